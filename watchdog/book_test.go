package watchdog

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Against a search through all slots.
func TestBookFindsTheLatestSlotWithRoom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	b := newBook(third)
	base := 7 * third
	for n := range time.Duration(grain) {
		if rnd.IntN(10) < 3 {
			continue
		}
		for range MaxBatch {
			b.add((base/slot + n) * slot)
		}
	}
	full := 0
	for range 2_000 {
		due := base + time.Duration(rnd.Int64N(int64(third)))
		earliest := due - time.Duration(rnd.Int64N(int64(4*slot)))
		if !b.taken(due) {
			continue
		}
		want := due
		for at := due / slot * slot; at >= max(earliest/slot*slot, base-third); at -= slot {
			if b.count[b.page(at)] < MaxBatch {
				want = max(at, earliest)
				break
			}
		}
		if got := b.fit(due, earliest); got != want {
			t.Fatalf("due %v, not before %v: %v, want %v", due, earliest, got, want)
		} else if got == due {
			full++
		}
		b.add(due)
	}
	if full == 0 {
		t.Fatal("there was room always")
	}
}

func TestBookMakesRoomForACrowdAndTakesItBack(t *testing.T) {
	b := newBook(third)
	var all []time.Duration
	add := func(n int) {
		for range n {
			at := 2 * third
			if b.taken(at) {
				at = b.fit(at, third)
			}
			if at < third || at > 2*third {
				t.Fatalf("%v is out of bounds", at)
			}
			b.add(at)
			all = append(all, at)
		}
	}
	add(grain * MaxBatch)
	if b.room > 2*MaxBatch {
		t.Fatalf("room for %d a slot", b.room)
	}
	add(2 * grain * MaxBatch)
	if b.room < 3*MaxBatch || b.room > 4*MaxBatch {
		t.Fatalf("room for %d a slot", b.room)
	}
	for p, n := range b.count {
		if int(n) > b.room {
			t.Fatalf("%d in slot %d", n, p)
		}
	}
	// No two hundreds of a slot at the same moment.
	moments := make(map[time.Duration]int)
	for _, at := range all {
		if moments[at]++; moments[at] > MaxBatch && at != 2*third {
			t.Fatalf("%d at %v", moments[at], at)
		}
	}
	for _, at := range all {
		b.remove(at)
	}
	if b.room != MaxBatch || b.total != 0 || b.full != [pages / 64]uint64{} || b.count != [pages]int32{} {
		t.Fatalf("an empty book has %d, room for %d", b.total, b.room)
	}
}

// A crowd in front of one instant is no reason to crowd all the others.
func TestBookDoesNotMakeRoomForAFew(t *testing.T) {
	b := newBook(third)
	for range 10 * MaxBatch {
		b.add(2 * third)
	}
	if got := b.fit(2*third, 2*third-slot/2); got != 2*third-slot/2 && got != 2*third {
		t.Fatalf("%v", got)
	}
	if got := b.fit(2*third, 2*third); got != 2*third || b.room != MaxBatch {
		t.Fatalf("%v, room for %d", got, b.room)
	}
	if got := b.fit(2*third, 3*third); got != 2*third {
		t.Fatalf("late already, and put at %v", got)
	}
}
