package pipeline

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// unconnected is a pipeline whose dial lasts until the test ends.
func unconnected(t *testing.T) *Pipeline {
	t.Helper()
	return open(t, func(ctx context.Context) (redis.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, Options{})
}

// If each request were searched for among all, this would take a minute.
func TestACrowdIsTakenBackInATimeThatGrowsWithIt(t *testing.T) {
	const crowd = 400_000
	p := unconnected(t)
	requests := make([]Request, crowd)
	for i := range requests {
		requests[i].Done = CompletionFunc(func(*Request) {})
		p.Enqueue(&requests[i], 0)
	}
	began := time.Now()
	for left := crowd; left > 0; left-- {
		if !p.Cancel(&requests[left-1]) {
			t.Fatalf("request %d is not in the queue", left-1)
		}
		if left%1000 == 0 && time.Since(began) > 10*time.Second {
			t.Fatalf("%d of %d are left after 10 s", left, crowd)
		}
	}
}

// Whichever requests are taken out, the others keep their order.
func TestWhatIsNotTakenBackKeepsItsOrder(t *testing.T) {
	p := unconnected(t)
	var q queue
	var want []*Request
	for i := range 2000 {
		r := &Request{Command: strconv.Itoa(i)}
		q.add(r)
		if want = append(want, r); rand.IntN(3) == 0 {
			at := rand.IntN(len(want))
			q.take(want[at])
			want = append(want[:at], want[at+1:]...)
		}
	}
	left := q.cut(nil, len(want)/2)
	for i, r := range append(left, q.remove(func(*Request) bool { return true })...) {
		if r != want[i] {
			t.Fatalf("%s is number %d, want %s", r.Command, i, want[i].Command)
		}
	}
	if q != (queue{}) {
		t.Errorf("it is not empty: %+v", q)
	}
	r := &Request{Command: "PING"}
	p.Enqueue(r, 0)
	if !p.Unwritten(r) || !p.Cancel(r) || p.Cancel(r) || p.Unwritten(r) {
		t.Error("a request is taken back once")
	}
	var never *NotSentError
	if !errors.As(r.Err, &never) {
		t.Errorf("taken back: %v", r.Err)
	}
}
