package watchdog

import (
	"math/bits"
	"time"
)

// MaxBatch is how many leases one call of a [RenewFunc] gets at most. A server
// that renews them does nothing else meanwhile: with a hundred, 0.3 ms.
const MaxBatch = 25

const (
	// slotsPerThird is into how many slots the third of a TTL is cut. A third
	// of 10 s has slots of about 2.4 ms.
	slotsPerThird = 4096

	// slots is the number of different slots: a third behind now, for late
	// renewals, and a third ahead.
	slots = 2 * slotsPerThird

	// keepsPlace is by how many slots a renewal may be sent late and keep its place
	// in the third: about 10 ms of a third of 10 s, as a connection that is busy, or
	// the scheduler, may take.
	keepsPlace = 4
)

// schedule counts the renewals that are due in each slot of time and finds room
// for new ones, so that leases that were acquired together are not renewed
// together. Instants that are a multiple of two thirds apart share a slot. The
// schedule need not be exact, since it only spreads the load.
type schedule struct {
	width time.Duration
	room  int // how many may be due in one slot: the next multiple of MaxBatch as the schedule fills
	total int
	count [slots]int32
	full  [slots / 64]uint64 // a bit for each slot that has no room
}

func newSchedule(third time.Duration) *schedule {
	return &schedule{width: max(third/slotsPerThird, 1), room: MaxBatch}
}

// slot is the slot of an instant.
func (s *schedule) slot(at time.Duration) int { return int(at/s.width) & (slots - 1) }

func (s *schedule) add(at time.Duration) {
	if s == nil {
		return
	}
	s.total++
	p := s.slot(at)
	if s.count[p]++; int(s.count[p]) >= s.room {
		s.full[p/64] |= 1 << (p % 64)
	}
}

func (s *schedule) remove(at time.Duration) {
	if s == nil {
		return
	}
	s.total--
	p := s.slot(at)
	if s.count[p]--; int(s.count[p]) < s.room {
		s.full[p/64] &^= 1 << (p % 64)
	}
	if s.room > MaxBatch && s.total < (s.room-MaxBatch)*slotsPerThird/2 {
		s.resize(s.room - MaxBatch)
	}
}

// resize sets how many may be due in one slot.
func (s *schedule) resize(room int) {
	s.room = room
	clear(s.full[:])
	for p, n := range s.count {
		if int(n) >= room {
			s.full[p/64] |= 1 << (p % 64)
		}
	}
}

// hasBatch reports whether a batch is due in the slot of at already.
func (s *schedule) hasBatch(at time.Duration) bool { return s.count[s.slot(at)] >= MaxBatch }

// hasRoom reports whether one more may be due in the slot of at.
func (s *schedule) hasRoom(at time.Duration) bool { return int(s.count[s.slot(at)]) < s.room }

// fit is the latest instant that has room for n that are to be due together, not
// later than due and not earlier than earliest. If none has room, it is due.
func (s *schedule) fit(due, earliest time.Duration, n int) time.Duration {
	back := min(int(due/s.width-earliest/s.width), slotsPerThird)
	for {
		for p := 0; p <= back; p++ {
			more, ok := s.before((s.slot(due)-p)&(slots-1), back-p)
			if p += more; !ok {
				break
			}
			if at := s.within(due, p); int(s.count[s.slot(at)])+n <= s.room {
				return min(due, max(earliest, at))
			}
		}
		if back < 0 || s.total+n < s.room*slotsPerThird*3/4 {
			return due // a crowd in front of one instant only
		}
		s.resize(s.room + MaxBatch)
	}
}

// within is the instant for what is added to the slot that is n before due's. The
// second batch of a slot goes into its middle, the next two into the middles of
// the halves. Leases a nanosecond apart keep the order in which they came: what a
// server was given together is close together in its memory.
func (s *schedule) within(due time.Duration, n int) time.Duration {
	start := (due/s.width - time.Duration(n)) * s.width
	count := s.count[s.slot(start)]
	share := bits.Reverse8(uint8(count / MaxBatch))
	return start + s.width*time.Duration(share)/256 + time.Duration(count%MaxBatch)
}

// before is how many slots before p the nearest slot with room is, at most
// back.
func (s *schedule) before(p, back int) (n int, ok bool) {
	for n <= back {
		q := (p - n) & (slots - 1)
		// The bits of q and of those before it in its 64 bits, q's on top.
		free := ^s.full[q/64] << (63 - q%64)
		if free != 0 {
			n += bits.LeadingZeros64(free)
			return n, n <= back
		}
		n += q%64 + 1
	}
	return 0, false
}
