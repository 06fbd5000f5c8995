package pubsub

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// Thousands of waiters come and go before the writer runs. The next one is subscribed at once.
func TestChangesThatWereUndoneDoNotHoldUpTheNext(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that the writer runs late
	target, err := redisconn.ParseURL(redistest.Start(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	h := New(func(ctx context.Context) (redis.Conn, error) { return target.Dial(ctx, time.Minute) }, Options{Timeout: time.Minute})
	defer h.Close()
	for i := range 600 { // otherwise the marks of waiters that left are cleared early
		stays := NewFlag()
		defer h.Subscribe(fmt.Sprint("stays", i), stays).Close()
		<-stays.C()
	}
	for round := range 20 {
		<-time.After(10 * time.Millisecond) // the writer has nothing to do
		brief, next := NewFlag(), NewFlag()
		for i := range 2*chunk + 100 {
			h.Subscribe(fmt.Sprint("brief", round, "-", i), brief).Close()
		}
		s := h.Subscribe(fmt.Sprint("next", round), next)
		returns(t, "the next subscription", func() { <-next.C() })
		s.Close()
	}
}
