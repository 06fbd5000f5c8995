package pipeline

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// mute is a connection to a server that takes no time: each flushed command has its reply, and no
// byte is sent. So a benchmark measures only the queue.
type mute struct {
	redis.ConnWithTimeout
	unflushed int
	replies   chan struct{}
	closed    chan struct{}
	close     sync.Once
	next      int // replies that Fill waited for
}

func newMute() *mute {
	return &mute{replies: make(chan struct{}, 1<<16), closed: make(chan struct{})}
}

func (m *mute) Send(string, ...any) error {
	m.unflushed++
	return nil
}

// Queue and Push are Send and Flush of a connection that never waits.
func (m *mute) Queue(command string, args []any, _ bool) (all bool, err error) {
	return true, m.Send(command, args...)
}

func (m *mute) Push(bool) (all bool, err error) { return true, m.Flush() }
func (m *mute) WritesAtOnce() bool              { return true }

func (m *mute) Flush() error {
	for ; m.unflushed > 0; m.unflushed-- {
		m.replies <- struct{}{}
	}
	return nil
}

// Receive waits for the next reply.
func (m *mute) Receive() (any, error) {
	select {
	case <-m.replies:
		return nil, nil
	case <-m.closed:
		return nil, context.Canceled
	}
}

// Next returns the next reply that Fill waited for, or one that is ready.
func (m *mute) Next() (reply any, ok bool, err error) {
	if m.next > 0 {
		m.next--
		return nil, true, nil
	}
	select {
	case <-m.replies:
		return nil, true, nil
	default:
		return nil, false, nil
	}
}

func (m *mute) Fill(wait bool) (some bool, err error) {
	if wait {
		if _, err = m.Receive(); err == nil {
			m.next++
		}
	}
	return m.next > 0 || len(m.replies) > 0, err
}

// ReceiveWithTimeout refuses the commands with which a connection begins.
func (m *mute) ReceiveWithTimeout(time.Duration) (any, error) {
	reply, err := m.Receive()
	if err == nil {
		err = redis.Error("ERR unknown command")
	}
	return reply, err
}

func (m *mute) Close() error {
	m.close.Do(func() { close(m.closed) })
	return nil
}

func (m *mute) Interrupt()                      { m.Close() }
func (m *mute) Sever(error)                     { m.Close() }
func (m *mute) SetReadDeadline(time.Time) error { return nil }

// BenchmarkRequests sends requests through the queue, alone and a hundred at a time: queue, cut,
// write, read, complete.
func BenchmarkRequests(b *testing.B) {
	for _, company := range []int{1, 100} {
		b.Run(fmt.Sprint("together=", company), func(b *testing.B) {
			conn := newMute()
			p := open(b, func(context.Context) (redis.Conn, error) { return conn, nil }, Options{})
			<-ask(p, "PING") // connected
			done := make(chan struct{}, company)
			complete := CompletionFunc(func(*Request) { done <- struct{}{} })
			requests := make([]Request, company)
			var key, owner, lease luasrc.Arg = "order:4711", "owner", int64(30_000)
			b.ReportAllocs()
			for b.Loop() {
				for i := range requests {
					r := &requests[i]
					r.Done = complete
					r.Call(luasrc.Lock(r.ArgBuffer[:0], key, owner, lease))
					p.Enqueue(r, 0)
				}
				p.Flush()
				for range requests {
					<-done
				}
			}
		})
	}
}
