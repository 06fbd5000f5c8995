package watchdog

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// counted is a holder of one lease that counts its calls.
type counted struct {
	t      *testing.T
	losses atomic.Int32
	closed *atomic.Bool // Close has returned, and so has every answer
}

func (h *counted) LeaseLost(l *Lease, _ error) {
	if h.losses.Add(1) > 1 {
		h.t.Error("a loss was told twice")
	}
	if h.closed.Load() {
		h.t.Error("told after the end")
	}
	if l.Live(Never, Never, Never) {
		h.t.Error("a lost lease came back")
	}
}

func (h *counted) LeaseAlarm(l *Lease) {
	l.SetAlarm(l.watchdog.clock.Now() + rand.N(5*time.Millisecond))
}

func TestH5HammeredByManyEachLossIsToldOnceAtMost(t *testing.T) {
	const (
		ttl     = 30 * time.Millisecond
		workers = 16
		rounds  = 150
	)
	c := clock.Monotonic()
	var (
		answers sync.WaitGroup
		renewed atomic.Int64
		closed  atomic.Bool
	)
	w := New(func(batch []*Lease, answer func(int, Answer)) {
		sent := c.Now()
		reply := func() {
			for i := range batch {
				r := Result(rand.IntN(4))
				if r == Renewed {
					renewed.Add(1)
				}
				answer(i, Answer{Result: r, Sent: sent, TTL: ttl})
				if rand.IntN(10) == 0 {
					answer(i, Answer{Result: NotOwned}) // a duplicate
				}
			}
		}
		if rand.IntN(4) == 0 {
			reply()
			return
		}
		answers.Add(1)
		time.AfterFunc(rand.N(ttl), func() { defer answers.Done(); reply() })
	}, Options{TTL: ttl, Clock: c})
	w.retryEvery, w.maxSleep = time.Millisecond, 5*time.Millisecond

	var (
		wg   sync.WaitGroup
		lost atomic.Int64
	)
	for range workers {
		wg.Go(func() {
			for range rounds {
				h := &counted{t: t, closed: &closed}
				l := w.Register(h)
				now := c.Now()
				from := now
				if rand.IntN(4) == 0 {
					from = Never
				}
				if rand.IntN(10) > 0 && !l.Live(Trust(now, ttl), from, Never) {
					t.Error("a fresh lease would not go live")
				}
				for range rand.IntN(4) {
					switch rand.IntN(7) {
					case 0:
						l.SetAlarm(c.Now() + rand.N(ttl))
					case 1:
						l.Lower(c.Now() + rand.N(ttl))
					case 2:
						l.setExpiry(c.Now() + rand.N(ttl))
					case 3:
						newTerms(l, c.Now(), c.Now()+rand.N(ttl))
					case 4:
						l.RenewUntil(c.Now() + rand.N(ttl))
					case 5:
						l.Live(Trust(c.Now(), ttl), c.Now(), Never)
					default:
						time.Sleep(rand.N(ttl))
					}
				}
				told := h.losses.Load()
				l.Forget()
				lost.Add(int64(told))
			}
		})
	}
	wg.Wait()
	wantLive(t, w, 0)
	w.Close()
	answers.Wait()
	closed.Store(true)
	if lost.Load() == 0 || renewed.Load() == 0 {
		t.Fatalf("%d losses and %d renewals: the test saw nothing", lost.Load(), renewed.Load())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.batches {
		if len(b.leases) > 0 {
			t.Fatal("a lease is left")
		}
	}
}

// Close during other calls leaves nothing behind and never deadlocks.
func TestE1CloseAmidWork(t *testing.T) {
	for range 30 {
		c := clock.Monotonic()
		w := New(func(batch []*Lease, answer func(int, Answer)) {
			for i := range batch {
				answer(i, Answer{Result: Renewed, Sent: c.Now(), TTL: 5 * time.Millisecond})
			}
		}, Options{TTL: 5 * time.Millisecond, Clock: c})
		var wg sync.WaitGroup
		h := &holder{clock: c}
		first := make(chan struct{}, 4)
		for range 4 {
			wg.Go(func() {
				for i := 0; ; i++ {
					l := w.Register(h)
					now := c.Now()
					if !l.Live(Trust(now, 5*time.Millisecond), now, Never) {
						return
					}
					if i == 10 {
						first <- struct{}{}
					}
					if i%3 > 0 {
						l.Forget()
					}
				}
			})
		}
		<-first
		w.Close()
		wg.Wait()
		wantLive(t, w, 0)
	}
}
