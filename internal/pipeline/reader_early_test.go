package pipeline

import (
	"context"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// hasty is a server that answers before it is asked. Its client is slow to write.
type hasty struct {
	redis.Conn // no other method is used
	replies    chan any
	writing    chan struct{} // closed when the second command is being written
	write      chan struct{} // closed to let it be written
	sent       int
}

func (h *hasty) Send(cmd string, _ ...any) error {
	if cmd != "ECHO" {
		return nil
	}
	if h.sent++; h.sent == 2 {
		close(h.writing)
		<-h.write
	}
	return nil
}

func (h *hasty) Flush() error { return nil }
func (h *hasty) Close() error { return nil }

func (h *hasty) DoWithTimeout(time.Duration, string, ...any) (any, error) { panic("not used") }

func (h *hasty) ReceiveWithTimeout(time.Duration) (any, error) { return <-h.replies, nil }

func TestReplyThatComesBeforeItsCommandWaitsForTheWriter(t *testing.T) {
	t.Parallel()
	h := &hasty{replies: make(chan any, 8), writing: make(chan struct{}), write: make(chan struct{})}
	h.replies <- int64(1)                                    // CLIENT ID
	h.replies <- []byte("id=1 addr=x:1 fd=8")                // CLIENT INFO
	h.replies <- []any{[]byte("mode"), []byte("standalone")} // HELLO
	h.replies <- []any{[]byte("master")}                     // ROLE
	h.replies <- []byte("early")
	h.replies <- []byte("early")
	gate := make(chan struct{})
	p := open(t, func(context.Context) (redis.Conn, error) {
		<-gate
		return h, nil
	}, Options{})
	first, second := ask(p, "ECHO", "x"), ask(p, "ECHO", "y")
	close(gate)
	<-h.writing
	select {
	case <-first:
		t.Error("completed while the writer was still at its batch")
	case <-time.After(50 * time.Millisecond):
	}
	close(h.write)
	end(t, first)
	end(t, second)
}
