package locks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// BenchmarkCrowd has many callers try one taken name at the same time. It reports the time per
// caller, and the longest that a lock and unlock of another name took meanwhile. Every caller
// must get "taken".
func BenchmarkCrowd(b *testing.B) {
	s := redistest.Start(b)
	for _, as := range []bool{false, true} {
		for _, callers := range []int{5_000, 20_000, 100_000} {
			b.Run(fmt.Sprintf("as=%t/callers=%d", as, callers), func(b *testing.B) {
				c := open(b, s)
				taken := c.NewLock(kind.Reentrant, "taken", "taken")
				h := mustAcquire(b, &taken)
				defer mustUnlock(b, h)
				var longest time.Duration
				for b.Loop() {
					longest = max(longest, crowd(b, c, &taken, callers, as))
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*callers), "µs/caller")
				b.ReportMetric(float64(longest.Milliseconds()), "ms-longest-pair")
			})
		}
	}
}

// crowd runs these callers once, and returns the longest time of a pair.
func crowd(b *testing.B, c *Client, taken *Lock, callers int, as bool) (longest time.Duration) {
	begin := make(chan struct{})
	var crowd sync.WaitGroup
	var others atomic.Int64
	for range callers {
		w := NewWaiter(taken)
		if as {
			w.Terms = Terms{As: true, Owner: c.NewOwner()}
		}
		w.Terms.HasWait = true // a wait of 0: one attempt
		crowd.Go(func() {
			<-begin
			err := w.Start()
			if err == nil {
				_, err = w.Result(context.Background(), w.Await(context.Background()))
			}
			if !errors.Is(err, ErrLocked) && others.Add(1) == 1 {
				b.Error(err)
			}
		})
	}
	over := make(chan struct{})
	other := c.NewLock(kind.Reentrant, "other", "other")
	var pairs sync.WaitGroup
	pairs.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
			}
			began := time.Now()
			mustUnlock(b, mustAcquire(b, &other))
			longest = max(longest, time.Since(began))
		}
	})
	close(begin)
	crowd.Wait()
	close(over)
	pairs.Wait()
	if n := others.Load(); n > 0 {
		b.Errorf("%d of %d have another answer than \"taken\"", n, callers)
	}
	return longest
}
