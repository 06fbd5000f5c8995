//go:build !unix

package redisconn

import "net"

// poller is for systems where a connection can be asked without waiting.
type poller struct{}

func newPoller(net.Conn) *poller { return nil }

func (*poller) read([]byte, bool) (n int, err error) { return 0, nil } // never called
