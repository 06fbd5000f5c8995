package pipeline

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// paced is a connection whose server answers when the test says so.
type paced struct {
	*mute
	answers chan int // how many replies come at once
	left    int
	written atomic.Int64
}

func (c *paced) Queue(string, []any, bool) (all bool, err error) {
	c.written.Add(1)
	return true, nil
}

func (c *paced) Push(bool) (all bool, err error) { return true, nil }

func (c *paced) Next() (reply any, ok bool, err error) {
	if c.left == 0 {
		return nil, false, nil
	}
	c.left--
	return nil, true, nil
}

func (c *paced) Fill(wait bool) (some bool, err error) {
	if !wait {
		return c.mute.Fill(false)
	}
	select {
	case c.left = <-c.answers:
		return true, nil
	case <-c.closed:
		return false, context.Canceled
	}
}

// The server has answered two batches at once. What the first one's completions queue is written
// before the second is completed, so that the server need not wait for it.
func TestWhatABatchBringsAboutIsWrittenBeforeTheNextIsDealtWith(t *testing.T) {
	t.Parallel()
	conn := &paced{mute: newMute(), answers: make(chan int, 1)}
	p := open(t, func(context.Context) (redis.Conn, error) { return conn, nil }, Options{})
	conn.answers <- 1
	end(t, ask(p, "PING"))
	before := conn.written.Load()
	for busy := true; busy; time.Sleep(time.Millisecond) { // otherwise the two become one batch
		p.mu.Lock()
		busy = p.conn.busy.Load()
		p.mu.Unlock()
	}
	done := make(chan *Request, 3)
	third := &Request{Command: "THIRD", Done: CompletionFunc(func(r *Request) { done <- r })}
	submit(p, &Request{Command: "FIRST", Done: CompletionFunc(func(r *Request) {
		p.Enqueue(third, 0)
		done <- r
	})})
	written := int64(0)
	submit(p, &Request{Command: "SECOND", Done: CompletionFunc(func(r *Request) {
		written = conn.written.Load() - before
		done <- r
	})})
	conn.answers <- 2
	conn.answers <- 1
	for range 3 {
		if r := end(t, done); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	if written != 3 {
		t.Errorf("%d commands were written when the second was completed, want 3", written)
	}
}
