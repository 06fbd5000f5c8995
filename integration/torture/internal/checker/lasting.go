package checker

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/integration/torture/internal/history"
)

// accounts follow, semaphore by semaphore, what has become of permits that nobody owns: what is free in the end is what
// nobody took for good. That is exact but for calls of which nobody knows whether they ran.
type accounts struct {
	*Checker
	sems map[int]*account
}

type account struct {
	all      int // as it was set; 0: not so far
	set      int64
	taken    int // for good
	perhaps  int
	doubtful []*history.Acquisition // refused, and perhaps on its way back when its process died
}

// wayBack is how long what an acquire may have taken can be on its way back.
const wayBack = 6 * time.Second

func (s *accounts) of(lock int) *account {
	a := s.sems[lock]
	if a == nil {
		a = &account{}
		s.sems[lock] = a
	}
	return a
}

func (s *accounts) add(a *history.Acquisition) {
	if !s.model.Lasting {
		return
	}
	of := s.of(a.Lock)
	switch {
	case a.Mode == history.Set:
		of.all, of.set = a.Got, a.Called
	case a.Held && a.Outcome == history.OK:
	case a.Held && a.Unlock == 0:
		of.taken += a.Permits
	case a.Held || swallows(a):
		of.perhaps += a.Permits
	case a.Refusal != history.Locked:
		of.doubtful = append(of.doubtful, a)
	}
}

// swallows tells whether an acquire may have taken permits that nobody will give back.
func swallows(a *history.Acquisition) bool {
	return !a.Held && (a.Died != 0 || a.Process.Side == history.Java && a.Refusal != history.Locked)
}

// gone is when a fault took a semaphore that was set; 0: none did.
func (s *accounts) gone(lock int) int64 {
	a := s.sems[lock]
	for _, v := range s.voiding.voids {
		if a != nil && (v.Lock == lock || v.Lock == history.Every) && a.set < v.To {
			return v.From
		}
	}
	return 0
}

// window sets one aside that was called when its semaphore had been taken.
func (s *accounts) window(w Window, called int64) Window {
	if gone := s.gone(w.Lock); s.model.Lasting && gone != 0 && called > gone && w.Void == "" {
		w.Void, w.To = "a fault that took its semaphore", w.From
	}
	return w
}

// judge looks at what is free in the end.
func (s *accounts) judge(free map[int]int, deaths map[history.Process]int64) {
	for lock, a := range s.sems {
		got, known := free[lock]
		if !known || a.all == 0 || s.gone(lock) != 0 {
			continue
		}
		perhaps := a.perhaps
		for _, d := range a.doubtful {
			if at, died := deaths[d.Process]; died && at-d.Returned < wayBack.Nanoseconds() {
				perhaps += d.Permits
			}
		}
		s.verdict.Judged["semaphores counted in the end"]++
		if perhaps == 0 {
			s.verdict.Judged["semaphores of which each permit was known"]++
		}
		if most := a.all - a.taken; got > most || got < most-perhaps {
			s.Violation("permits: semaphore %d has %d free of %d, of which the dead have %d, and %d are uncertain%s",
				lock, got, a.all, a.taken, perhaps, surplus(got, most))
		}
	}
}

func surplus(got, most int) string {
	if got > most {
		return fmt.Sprintf(": %d too many", got-most)
	}
	return ": some are lost"
}
