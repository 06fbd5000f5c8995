package behaviour_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// What acquires and unlocks use inside is used again by others at once. Callers that come, give up and go by chance must
// never be handed what was meant for another: a hold of another name or owner, a second holder's grant, an error that is
// not theirs.
func TestNobodyIsHandedWhatWasMeantForAnother(t *testing.T) {
	const callers, shared, length = 64, 4, 3 * time.Second
	r := start(t)
	c := r.open()
	prefix := r.name()
	locks := make([]*rlock.Lock, shared)
	inside := make([]atomic.Int32, shared)
	for i := range locks {
		locks[i] = c.NewLock(prefix + "/shared/" + itoa(i))
	}
	var owners sync.Map
	var granted, refused, left atomic.Int64
	began := time.Now()
	enough := func() bool { return granted.Load() >= 1000 && refused.Load() >= 10 && left.Load() >= 10 }
	goesOn := func() bool {
		so := time.Since(began)
		return so < length || so < 10*length && !enough()
	}
	var all sync.WaitGroup
	for g := range callers {
		own := c.NewLock(prefix + "/own/" + itoa(g))
		all.Go(func() {
			for goesOn() {
				l, in := own, new(atomic.Int32)
				if i := rand.IntN(2 * shared); i < shared {
					l, in = locks[i], &inside[i]
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(2000))*time.Microsecond)
				var h *rlock.Hold
				var err error
				switch rand.IntN(4) {
				case 0:
					h, err = l.TryLock(ctx)
				case 1:
					h, err = l.TryLockFor(ctx, time.Duration(rand.IntN(1000))*time.Microsecond)
				case 2:
					h, err = l.Lock(t.Context())
				default:
					h, err = l.Lock(ctx)
				}
				switch {
				case err == nil:
					granted.Add(1)
				case errors.Is(err, rlock.ErrLocked):
					refused.Add(1)
				case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, rlock.ErrUncertain) || strings.Contains(err.Error(), "the wait elapsed without an answer"):
					left.Add(1)
				default:
					t.Errorf("lock %s: %v", l.Name(), err)
				}
				if err == nil {
					if h.Name() != l.Name() {
						t.Errorf("asked for %s, got %s", l.Name(), h.Name())
					}
					if _, twice := owners.LoadOrStore(h.Owner(), h); twice {
						t.Errorf("two holds of owner %s", h.Owner())
					}
					if n := in.Add(1); n != 1 {
						t.Errorf("%d inside %s", n, l.Name())
					}
					if rand.IntN(8) == 0 {
						time.Sleep(100 * time.Microsecond)
					}
					in.Add(-1)
					owners.Delete(h.Owner())
					if err := h.Unlock(ctx); err != nil && !errors.Is(err, rlock.ErrUncertain) {
						t.Errorf("unlock %s: %v", l.Name(), err)
					}
				}
				cancel()
			}
		})
	}
	all.Wait()
	if !enough() {
		t.Errorf("%d grants, %d refusals, %d left: too little of something to prove anything", granted.Load(), refused.Load(), left.Load())
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	r.Becomes("no lock left", func() bool { return len(r.Strings("KEYS", prefix+"*")) == 0 })
}
