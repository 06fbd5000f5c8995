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

// One batch of a tick among so many leases, of which each has its turn: it
// falls due, is cut, and is answered. The goroutine is left out of it; what it
// does is called in its place.
func BenchmarkTickBatch(b *testing.B) {
	for _, leases := range []int{100, 10_000, 100_000} {
		b.Run(fmt.Sprint("leases=", leases), func(b *testing.B) {
			c := &dial{}
			w := New(func(batch []*Lease, answer func(int, Answer)) {
				sent := c.Now()
				for i := range batch {
					answer(i, Answer{Result: Renewed, Sent: sent, TTL: testTTL})
				}
			}, Options{TTL: testTTL, Clock: c})
			w.running = true
			for range leases {
				w.Register(nobody{}).Live(Trust(0, testTTL), 0, Never)
			}
			b.ReportAllocs()
			for b.Loop() {
				c.at.Store(int64(w.next()))
				if !w.work() {
					b.Fatalf("no batch at %v", c.Now())
				}
			}
		})
	}
}
