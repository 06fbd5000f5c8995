package pipeline

import (
	"context"
	"sync"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// The attempt to connect goes on, and has no outcome yet when the requests' time is over.
func TestRequestLeavesAtItsDeadlineWhileAConnectionIsBeingMade(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	dial := dialler(t, s)
	begun, gate := make(chan struct{}, 1), make(chan struct{})
	let := sync.OnceFunc(func() { close(gate) })
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		select {
		case begun <- struct{}{}:
		default:
		}
		<-gate
		return dial(context.WithoutCancel(ctx))
	}, Options{})
	defer let()
	first := ask(p, "PING")
	<-begun
	for _, done := range []<-chan *Request{first, ask(p, "PING")} {
		r := end(t, done)
		if _, ok := r.Err.(*NotSentError); !ok {
			t.Errorf("ended with %v, %v", r.Reply, r.Err)
		}
	}
	next := ask(p, "PING")
	let()
	if r := end(t, next); r.Err != nil {
		t.Errorf("a request that came in time: %v", r.Err)
	}
}
