//go:build !unix || norawsyscall

package redisconn

import "net"

// socket is for systems where a connection can be asked without waiting.
type socket struct{}

func newSocket(net.Conn) *socket { return nil }

func (*socket) Read([]byte) (n int, err error)  { return 0, nil } // never called
func (*socket) Write([]byte) (n int, err error) { return 0, nil } // never called

func (*socket) TryRead([]byte) (n int, err error)  { return 0, nil } // never called
func (*socket) TryWrite([]byte) (n int, err error) { return 0, nil } // never called
