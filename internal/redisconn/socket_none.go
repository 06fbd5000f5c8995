//go:build !unix || norawsyscall

package redisconn

import "net"

func newStream(c net.Conn) stream { return waits{c} }
