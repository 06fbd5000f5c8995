package pipeline

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
)

// Without a server the pause between two attempts grows to a second. Retry ends it: the next attempt follows at once,
// and further ones soon.
func TestRetryEndsThePauseBetweenTwoAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64
		p := newPipeline(func(context.Context) (redis.Conn, error) {
			tries.Add(1)
			return nil, errors.New("nobody is there")
		}, Options{Timeout: 3 * time.Second, Clock: clock.Monotonic()})
		defer p.Close(0)
		again := &Request{Command: "PING"}
		again.Done = CompletionFunc(func(*Request) { p.Enqueue(again, 0) })
		p.Enqueue(again, 0)
		p.WakeWriter()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		before := tries.Load()
		p.Retry()
		synctest.Wait()
		if n := tries.Load() - before; n == 0 {
			t.Error("no attempt at once")
		}
		before = tries.Load()
		time.Sleep(4 * firstBackoff)
		synctest.Wait()
		if n := tries.Load() - before; n < 2 {
			t.Errorf("%d attempts in the next %v", n, 4*firstBackoff)
		}
	})
}
