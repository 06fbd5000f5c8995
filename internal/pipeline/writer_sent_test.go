package pipeline

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// The values of Sent have the order in which the server gets the commands of a connection, even
// within one write or if the clock stands still.
func TestWhatIsSentLaterIsSaidToBe(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	still := clock.Func(func() time.Duration { return time.Hour })
	p := newPipeline(dialler(t, s), Options{Timeout: timeout, Clock: still})
	t.Cleanup(func() { p.Close(timeout) })
	const count = 100
	done := make(chan *Request, count)
	var all []*Request
	for i := range count {
		r := &Request{Command: "INCR", Args: []any{"n"}, Done: CompletionFunc(func(r *Request) { done <- r })}
		all = append(all, r)
		p.Enqueue(r, 0)
		if i%10 == 0 {
			p.Flush()
		}
	}
	p.Flush()
	for range all {
		end(t, done)
	}
	for i, r := range all {
		if r.Err != nil || r.Reply != int64(i+1) {
			t.Fatalf("the %dth was answered %v, %v", i, r.Reply, r.Err)
		}
		if i > 0 && r.Sent <= all[i-1].Sent {
			t.Fatalf("the %dth was sent at %v, the one before at %v", i, r.Sent, all[i-1].Sent)
		}
	}
	if since := all[0].Sent; since < time.Hour || since > time.Hour+time.Microsecond {
		t.Errorf("the first was sent at %v", since)
	}
}
