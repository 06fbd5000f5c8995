package watchdog

import (
	"math/bits"
	"time"
)

const (
	// slotsPerThird is the number of slots in the third of a TTL. In a third of 10 s a
	// slot is about 2.4 ms.
	slotsPerThird = 4096

	// slots is the number of different slots: a third behind now, for late renewals, and a
	// third ahead.
	slots = 2 * slotsPerThird

	// keepsPlace is the number of slots by which a renewal may be sent late and keep its
	// place in the third: about 10 ms of a third of 10 s, the delay that a busy connection
	// or the scheduler may cause.
	keepsPlace = 4
)

// schedule counts the batches that are due in each slot of time and finds room for new
// ones, so that leases that were acquired together are not renewed together. Instants
// that are a multiple of two thirds apart share a slot. The schedule need not be exact,
// since it only spreads the load.
type schedule struct {
	width time.Duration
	room  int // how many batches may be due in one slot; it grows as the schedule fills
	total int
	count [slots]int32
}

func newSchedule(third time.Duration) *schedule {
	return &schedule{width: max(third/slotsPerThird, 1), room: 1}
}

// slot is the slot of an instant.
func (s *schedule) slot(at time.Duration) int { return int(at/s.width) & (slots - 1) }

func (s *schedule) add(at time.Duration) {
	s.total++
	s.count[s.slot(at)]++
}

func (s *schedule) remove(at time.Duration) {
	s.total--
	s.count[s.slot(at)]--
	if s.room > 1 && s.total < (s.room-1)*slotsPerThird/2 {
		s.room--
	}
}

// isTaken reports whether a batch is already due in the slot of at.
func (s *schedule) isTaken(at time.Duration) bool { return s.count[s.slot(at)] > 0 }

// fit is the latest instant between earliest and due whose slot has room. If none has
// room, it raises the limit of all slots, or returns due while the schedule is mostly
// empty.
func (s *schedule) fit(due, earliest time.Duration) time.Duration {
	back := min(int(due/s.width-earliest/s.width), slotsPerThird)
	for {
		for n := range back + 1 {
			if int(s.count[(s.slot(due)-n)&(slots-1)]) < s.room {
				return min(due, max(earliest, s.within(due, n)))
			}
		}
		if back < 0 || s.total < s.room*slotsPerThird*3/4 {
			return due // too many at this instant only
		}
		s.room++
	}
}

// within is the instant of a batch that is added to the slot n before due's. The second
// batch of a slot goes into its middle, the next two into the middles of the halves.
func (s *schedule) within(due time.Duration, n int) time.Duration {
	start := (due/s.width - time.Duration(n)) * s.width
	share := bits.Reverse8(uint8(s.count[s.slot(start)]))
	return start + s.width*time.Duration(share)/256
}
