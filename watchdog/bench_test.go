package watchdog

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

type nobody struct{}

func (nobody) LeaseLost(*Lease, error) {}
func (nobody) LeaseAlarm(*Lease)       {}

// BenchmarkRegisterLiveForget is one lock and unlock for the watchdog, while others live.
func BenchmarkRegisterLiveForget(b *testing.B) {
	for _, others := range []int{0, 1_000, 100_000} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			c := clock.System()
			w := New(func(batch []*Lease, answer func(int, Answer)) {
				sent := c.Now()
				for i := range batch {
					answer(i, Answer{Result: Renewed, Sent: sent, TTL: 30 * time.Second})
				}
			}, Options{Clock: c})
			defer w.Close()
			start := c.Now()
			for i := range others {
				from := start + time.Duration(i)*10*time.Second/time.Duration(others)
				w.Register(nobody{}).Live(Trust(from, 30*time.Second), from, Never)
			}
			b.ReportAllocs()
			for b.Loop() {
				l := w.Register(nobody{})
				now := c.Now()
				l.Live(Trust(now, 30*time.Second), now, Never)
				l.Forget()
			}
		})
	}
}

// BenchmarkRegisterLiveForgetParallel has several goroutines contend for one mutex.
func BenchmarkRegisterLiveForgetParallel(b *testing.B) {
	c := clock.System()
	w := New(func([]*Lease, func(int, Answer)) {}, Options{Clock: c})
	defer w.Close()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			l := w.Register(nobody{})
			now := c.Now()
			l.Live(Trust(now, 30*time.Second), now, Never)
			l.Forget()
		}
	})
}

// dial is a clock that the test sets.
type dial struct{ at atomic.Int64 }

func (d *dial) Now() time.Duration { return time.Duration(d.at.Load()) }

// BenchmarkTickBatch measures one batch: it falls due, is cut, and is answered. Each of the
// leases has its turn. The benchmark does the goroutine's work in its place.
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
