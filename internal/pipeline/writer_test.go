package pipeline

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
)

// A command that is queued during a write is left to the writing goroutine, even if that write's reply has been
// handled before the goroutine looks again.
func TestWhatIsQueuedDuringAWriteIsSentAfterIt(t *testing.T) {
	t.Parallel()
	conn := newMute()
	p := newPipeline(func(context.Context) (redis.Conn, error) { return conn, nil }, Options{Timeout: 3 * time.Second, Clock: clock.System()})
	defer p.Close(0)
	var round atomic.Int64
	done := make(chan struct{}, 1)
	second := &Request{Command: "SECOND", Done: CompletionFunc(func(*Request) { done <- struct{}{} })}
	woken := make(chan struct{}, 1)
	first := &Request{Command: "FIRST", Done: CompletionFunc(func(*Request) { woken <- struct{}{} })}
	submit(p, second)
	<-done // connected
	go func() {
		for range woken {
			submit(p, second)
		}
	}()
	defer close(woken)
	stuck := time.NewTimer(20 * time.Second)
	defer stuck.Stop()
	for round.Add(1) <= 20_000 {
		p.Enqueue(first, 0)
		p.WakeWriter()
		select {
		case <-done:
		case <-stuck.C:
			t.Fatalf("round %d: what was queued during a write was never sent", round.Load())
		}
	}
}
