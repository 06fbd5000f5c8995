package watchdog

import (
	"math/rand/v2"
	"testing"
	"time"
)

// The result is compared with a search through all slots.
func TestScheduleFindsTheLatestSlotWithRoom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	s := newSchedule(third)
	base := 7 * third
	for n := range time.Duration(slotsPerThird) {
		if rnd.IntN(10) < 3 {
			continue
		}
		s.add((base/slot + n) * slot)
	}
	full := 0
	for range 2_000 {
		due := base + time.Duration(rnd.Int64N(int64(third)))
		earliest := due - time.Duration(rnd.Int64N(int64(4*slot)))
		if !s.isTaken(due) {
			continue
		}
		want := due
		for at := due / slot * slot; at >= max(earliest/slot*slot, base-third); at -= slot {
			if s.count[s.slot(at)] == 0 {
				want = max(at, earliest)
				break
			}
		}
		if got := s.fit(due, earliest); got != want {
			t.Fatalf("due %v, not before %v: %v, want %v", due, earliest, got, want)
		} else if got == due {
			full++
		}
		if full%10 == 0 {
			s.add(due)
		}
	}
	if full == 0 {
		t.Fatal("there was room always")
	}
}

func TestScheduleMakesRoomForACrowdAndTakesItBack(t *testing.T) {
	s := newSchedule(third)
	var all []time.Duration
	add := func(n int) {
		for range n {
			at := 2 * third
			if s.isTaken(at) {
				at = s.fit(at, third)
			}
			if at < third || at > 2*third {
				t.Fatalf("%v is out of bounds", at)
			}
			s.add(at)
			all = append(all, at)
		}
	}
	add(slotsPerThird)
	if s.room > 2 {
		t.Fatalf("room for %d a slot", s.room)
	}
	add(2 * slotsPerThird)
	if s.room < 3 || s.room > 4 {
		t.Fatalf("room for %d a slot", s.room)
	}
	for p, n := range s.count {
		if int(n) > s.room {
			t.Fatalf("%d in slot %d", n, p)
		}
	}
	// No two batches of a slot are due at the same moment.
	moments := make(map[time.Duration]int)
	for _, at := range all {
		if moments[at]++; moments[at] > 1 && at != 2*third {
			t.Fatalf("%d at %v", moments[at], at)
		}
	}
	for _, at := range all {
		s.remove(at)
	}
	if s.room != 1 || s.total != 0 || s.count != [slots]int32{} {
		t.Fatalf("an empty schedule has %d, room for %d", s.total, s.room)
	}
}

// Many batches before one instant are no reason to allow more in all other slots.
func TestScheduleDoesNotMakeRoomForAFew(t *testing.T) {
	s := newSchedule(third)
	for range 10 {
		s.add(2 * third)
	}
	if got := s.fit(2*third, 2*third-slot/2); got != 2*third-slot/2 && got != 2*third {
		t.Fatalf("%v", got)
	}
	if got := s.fit(2*third, 2*third); got != 2*third || s.room != 1 {
		t.Fatalf("%v, room for %d", got, s.room)
	}
	if got := s.fit(2*third, 3*third); got != 2*third {
		t.Fatalf("late already, and put at %v", got)
	}
}
