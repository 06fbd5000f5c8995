package watchdog

import (
	"math/bits"
	"time"
)

const (
	// grain is into how many slots the third of a TTL is cut: one of 30 s has
	// slots of 10 ms.
	grain = 1024

	// pages is how many slots are told apart: a third behind now, for what is
	// late, and one ahead.
	pages = 2 * grain
)

// book counts the renewals that are due in each slot of time and finds room
// for new ones, so that a crowd of leases that were acquired together is not
// renewed together. Times a multiple of two thirds apart share a slot; the
// book is about pace, not truth.
type book struct {
	width time.Duration
	room  int // how many may be due in one slot: the next multiple of MaxBatch as the book fills
	total int
	count [pages]int32
	full  [pages / 64]uint64 // a bit for each slot that has no room
}

func newBook(third time.Duration) *book {
	return &book{width: max(third/grain, 1), room: MaxBatch}
}

// page is the slot of an instant.
func (b *book) page(at time.Duration) int { return int(at/b.width) & (pages - 1) }

func (b *book) add(at time.Duration) {
	if b == nil {
		return
	}
	b.total++
	p := b.page(at)
	if b.count[p]++; int(b.count[p]) >= b.room {
		b.full[p/64] |= 1 << (p % 64)
	}
}

func (b *book) remove(at time.Duration) {
	if b == nil {
		return
	}
	b.total--
	p := b.page(at)
	if b.count[p]--; int(b.count[p]) < b.room {
		b.full[p/64] &^= 1 << (p % 64)
	}
	if b.room > MaxBatch && b.total < (b.room-MaxBatch)*grain/2 {
		b.resize(b.room - MaxBatch)
	}
}

// resize sets how many may be due in one slot.
func (b *book) resize(room int) {
	b.room = room
	clear(b.full[:])
	for p, n := range b.count {
		if int(n) >= room {
			b.full[p/64] |= 1 << (p % 64)
		}
	}
}

// taken reports whether a batch is due in the slot of at already.
func (b *book) taken(at time.Duration) bool { return b.count[b.page(at)] >= MaxBatch }

// fit is the latest instant that has room, not later than due and not earlier
// than earliest. Where none has room, it is due.
func (b *book) fit(due, earliest time.Duration) time.Duration {
	back := min(int(due/b.width-earliest/b.width), grain)
	if back < 0 {
		return due
	}
	n, ok := b.before(b.page(due), back)
	if !ok {
		if b.total < b.room*grain*3/4 {
			return due // a crowd in front of one instant only
		}
		b.resize(b.room + MaxBatch)
		if n, ok = b.before(b.page(due), back); !ok {
			return due
		}
	}
	// The second hundred of a slot goes into its middle, the next two into
	// the middles of the halves. A nanosecond apart they stay in the order in
	// which they came: what a server was given together it finds together.
	start := (due/b.width - time.Duration(n)) * b.width
	count := b.count[b.page(start)]
	share := bits.Reverse8(uint8(count / MaxBatch))
	return min(due, max(earliest, start+b.width*time.Duration(share)/256+time.Duration(count%MaxBatch)))
}

// before is how many slots before p the nearest one with room is, at most
// back.
func (b *book) before(p, back int) (n int, ok bool) {
	for n <= back {
		q := (p - n) & (pages - 1)
		// The bits of q and of those before it in its word, q's on top.
		free := ^b.full[q/64] << (63 - q%64)
		if free != 0 {
			n += bits.LeadingZeros64(free)
			return n, n <= back
		}
		n += q%64 + 1
	}
	return 0, false
}
