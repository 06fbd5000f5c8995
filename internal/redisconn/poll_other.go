//go:build !unix

package redisconn

import "net"

// socket and poller are for systems where a connection can be asked without waiting.
type (
	socket struct{}
	poller struct{}
)

func newSocket(net.Conn) *socket { return nil }

func (*socket) Read([]byte) (n int, err error)  { return 0, nil } // never called
func (*socket) Write([]byte) (n int, err error) { return 0, nil } // never called

func (*socket) TryRead([]byte) (n int, err error)  { return 0, nil } // never called
func (*socket) TryWrite([]byte) (n int, err error) { return 0, nil } // never called

func newPoller(*socket) *poller { return nil }

func (*poller) read([]byte, bool) (n int, err error) { return 0, nil } // never called
