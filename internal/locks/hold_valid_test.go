package locks

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// preempted is a clock whose caller may be preempted just after a reading.
type preempted struct {
	clock.Clock
	pause atomic.Int64
}

func (c *preempted) Now() time.Duration {
	defer time.Sleep(time.Duration(c.pause.Load()))
	return c.Clock.Now()
}

// The time that passes inside ValidUntil is never added to the trusted time (H1).
func TestH1ValidUntilIsNeverTooLate(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	slow := &preempted{Clock: clock.System()}
	o := config()
	o.Clock = slow
	c := openWith(t, s, o)
	l := c.NewLock(kind.Reentrant, "valid", "valid")
	h := mustAcquire(t, &l)
	defer mustUnlock(t, h)
	slow.pause.Store(int64(100 * time.Millisecond))
	said := h.ValidUntil()
	slow.pause.Store(0)
	var valid time.Time // a pause of the machine only makes it earlier, so the latest counts
	for range 20 {
		if v := h.ValidUntil(); v.After(valid) {
			valid = v
		}
	}
	if late := said.Sub(valid); late > 10*time.Millisecond {
		t.Errorf("%v too late", late)
	}
}
