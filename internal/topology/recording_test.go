package topology

import (
	"io"
	"net"
	"time"
)

// recording is a network connection from which a reply is read.
type recording struct{ io.Reader }

func (*recording) Write(b []byte) (int, error)      { return len(b), nil }
func (*recording) Close() error                     { return nil }
func (*recording) LocalAddr() net.Addr              { return nil }
func (*recording) RemoteAddr() net.Addr             { return nil }
func (*recording) SetDeadline(time.Time) error      { return nil }
func (*recording) SetReadDeadline(time.Time) error  { return nil }
func (*recording) SetWriteDeadline(time.Time) error { return nil }
