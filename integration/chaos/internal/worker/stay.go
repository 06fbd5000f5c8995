package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
	"github.com/rlock-go/redisson/rlock"
)

// maxDepth is how many holds of a stay are nested at most.
const maxDepth = 3

// spend stays inside for a while, re-enters, asks and extends, and releases hold by hold.
func (s *stay) spend() {
	for s.kind.Permits == 0 && len(s.holds) < maxDepth && s.chance(35) && s.trusts() {
		s.hold(s.between(0, 5*time.Millisecond))
		if !s.trusts() {
			break
		}
		called := time.Now()
		if s.acquire(s.holds[0].hold.(*rlock.Hold).Owner()) && time.Since(called) > s.CommandTimeout {
			// An attempt was lost. If its command still arrives, the hold count will show it.
			s.hold(s.between(s.Watchdog/2, 3*s.Watchdog/2))
		}
	}
	s.hold(s.duration())
	if h := s.holds[len(s.holds)-1]; h.fixed && s.chance(20) {
		s.extend(h)
		s.hold(s.duration() / 4)
	}
	for len(s.holds) > 0 {
		if s.release() && len(s.holds) > 0 {
			s.hold(s.between(0, 10*time.Millisecond))
		}
	}
}

// duration is how long a stay is: mostly short, sometimes long enough for renewals and for faults that hinder them.
func (s *stay) duration() time.Duration {
	switch n := s.rng.IntN(100); {
	case n < 88:
		return s.between(0, 8*time.Millisecond)
	case n < 98:
		return s.between(20*time.Millisecond, 300*time.Millisecond)
	}
	return s.between(s.Watchdog/2, 2*s.Watchdog)
}

// hold stays inside for d, and keeps checking that all holds are valid. A loss ends it early.
func (s *stay) hold(d time.Duration) {
	const each = 10 * time.Millisecond
	for end := time.Now().Add(d); ; {
		left := time.Until(end)
		if left <= 0 || !s.trusts() {
			return
		}
		select {
		case <-s.holds[len(s.holds)-1].hold.Done():
		case <-time.After(min(left, each)):
		}
	}
}

// trusts checks whether every hold is valid, and reports what changed.
func (s *stay) trusts() bool {
	all := true
	for _, h := range s.holds {
		all = s.trust(h, "") && all
	}
	return all
}

func (s *stay) trust(h *held, why string) bool {
	err := h.hold.Err()
	if s.contradicts(h) {
		// Only a contradiction that lasts is odd.
		if s.contradicts(h) {
			s.odd("Err", fmt.Sprintf("op %d: nil, though ValidUntil lay before the call", h.op))
		}
	}
	// ValidUntil jitters by the time between two readings of clocks.
	until := h.hold.ValidUntil()
	if d := until.Sub(h.until); why != "" || d > time.Millisecond || d < -20*time.Microsecond {
		h.until = until
		s.say(history.Event{What: history.Trust, Op: h.op, Until: s.clock.At(until), Mode: why})
	}
	if err != nil && !h.lost {
		h.lost = true
		s.say(history.Event{What: history.Lost, Op: h.op})
	}
	return err == nil
}

// contradicts reports whether Err is nil though ValidUntil was over before. A process that is stopped between two readings
// of clocks may see that once.
func (s *stay) contradicts(h *held) bool {
	before := time.Now()
	return h.hold.Err() == nil && h.hold.ValidUntil().Before(before)
}

func (s *stay) extend(h *held) {
	ctx, cancel := context.WithTimeout(s.storm.Load().ctx, s.patience())
	defer cancel()
	d := s.between(50*time.Millisecond, s.Watchdog)
	if short := time.Now().Add(d); short.Before(h.until) {
		// From here on it may end that early, even if this process is killed before it can report so.
		s.say(history.Event{What: history.Trust, Op: h.op, Until: s.clock.At(short), Mode: history.Moved})
	}
	c, began := extendCall(ctx), time.Now()
	err := h.hold.Extend(ctx, d)
	s.inTime(c, began, s.CommandTimeout)
	name, why := c.judge(err)
	s.odd(c.name, why)
	s.say(history.Event{What: history.Other, Mode: c.name, Kind: name})
	for _, x := range s.holds {
		s.trust(x, history.Moved)
	}
}

// release releases the innermost hold, or any hold if the kind has two locks. It returns false if the unlock returned an
// error. A lost hold of a common owner is not unlocked.
func (s *stay) release() bool {
	n := len(s.holds) - 1
	if len(s.kind.Parts) > 1 {
		i := s.rng.IntN(n + 1)
		s.holds[i], s.holds[n] = s.holds[n], s.holds[i]
	}
	h := s.holds[n]
	s.holds = s.holds[:n]
	if !s.trust(h, "") && s.common {
		s.say(history.Event{What: history.Unlock, Op: h.op})
		s.say(history.Event{What: history.Unlocked, Op: h.op, Kind: history.Kept})
		return true
	}
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	switch s.rng.IntN(10) {
	case 0:
		ctx, cancel = context.WithCancel(ctx)
		cancel() // it must release all the same
	case 1:
		ctx, cancel = context.WithTimeout(ctx, s.between(0, 20*time.Millisecond))
	}
	defer cancel()
	s.say(history.Event{What: history.Unlock, Op: h.op})
	began := time.Now()
	err := h.hold.Unlock(ctx)
	at := machineclock.Now()
	c := unlockCall()
	s.inTime(c, began, 4*s.CommandTimeout+time.Second)
	name, why := c.judge(err)
	s.odd(c.name, why)
	e := history.Event{At: at, What: history.Unlocked, Op: h.op, Kind: name}
	if !s.exact || n > 0 || name == history.Uncertain {
		e.Mode = history.Left
	}
	s.exact = s.exact && name == history.OK
	s.say(e)
	if s.chance(5) {
		if err := h.hold.Unlock(ctx); !errors.Is(err, rlock.ErrReleased) {
			s.odd(c.name, fmt.Sprintf("a second Unlock returned %v", err))
		}
	}
	return err == nil
}
