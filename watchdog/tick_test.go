package watchdog

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// dial is a clock that is set by hand.
type dial struct{ at atomic.Int64 }

func (d *dial) Now() time.Duration { return time.Duration(d.at.Load()) }

// One tick: all leases are due, are cut into batches, and are answered. The
// goroutine is left out of it; what it does is called in its place.
func BenchmarkTick(b *testing.B) {
	for _, leases := range []int{100, 10_000} {
		b.Run(fmt.Sprint("leases=", leases), func(b *testing.B) {
			c := &dial{}
			w := New(func(batch []*Lease, answer func(int, Answer)) {
				sent := c.Now()
				for i := range batch {
					answer(i, Answer{Result: Renewed, Sent: sent, TTL: 30 * time.Second})
				}
			}, Options{Clock: c})
			w.running = true
			for range leases {
				w.Register(nobody{}).Live(Trust(0, 30*time.Second), 0, Never)
			}
			b.ReportAllocs()
			for b.Loop() {
				c.at.Add(int64(10 * time.Second))
				batches := 0
				for w.renewDue() {
					batches++
				}
				if batches != leases/MaxBatch {
					b.Fatalf("%d batches for %d leases", batches, leases)
				}
			}
		})
	}
}
