package topology

import "testing"

func TestChangesAreMergedWhileNobodyLooks(t *testing.T) {
	t.Parallel()
	a, b, c := new(Node), new(Node), new(Node)
	f := NewFeed()
	for i := range uint16(100) {
		f.Tell(Change{Slots: Slots{{i, i}}, From: a, To: b})
		f.Tell(Change{Slots: Slots{{5, 9}}, From: b, To: c})
	}
	told := <-f.Changes()
	if len(told) != 2 || told[0].From != a || told[0].To != b || told[1].To != c {
		t.Fatalf("told %+v", told)
	}
	if !told[0].Slots.Has(0) || !told[0].Slots.Has(99) || told[0].Slots.Has(100) {
		t.Errorf("the first is %+v", told[0])
	}
	if len(told[1].Slots) != 1 {
		t.Errorf("the second is %+v", told[1])
	}
	select {
	case more := <-f.Changes():
		t.Errorf("told once more: %+v", more)
	default:
	}
	f.Tell(Change{Slots: AllSlots, From: a, To: a})
	f.Close()
	f.Close()
	f.Tell(Change{Slots: AllSlots, From: b, To: b})
	if told := <-f.Changes(); len(told) != 1 || told[0].From != a {
		t.Errorf("told at the end: %+v", told)
	}
	if _, open := <-f.Changes(); open {
		t.Error("it does not end")
	}
}

// Two changes of the master are merged while nobody receives: from the first master to the last.
func TestMergedChangeHasTheFirstAndTheLastMaster(t *testing.T) {
	t.Parallel()
	f, n := NewFeed(), new(Node)
	f.Tell(Change{Slots: AllSlots, From: n, To: n, NewMaster: true, FormerAddr: "a", Addr: "b"})
	f.Tell(Change{Slots: AllSlots, From: n, To: n})
	f.Tell(Change{Slots: AllSlots, From: n, To: n, NewMaster: true, FormerAddr: "b", Addr: "c"})
	if told := <-f.Changes(); len(told) != 1 || told[0].FormerAddr != "a" || told[0].Addr != "c" || !told[0].NewMaster {
		t.Errorf("told %+v", told)
	}
}

// If there are too many ranges, the change covers all slots, so that none is left out.
func TestChangeOfManySlotsIsOfAll(t *testing.T) {
	t.Parallel()
	f := NewFeed()
	n := new(Node)
	for i := range uint16(8000) {
		f.Tell(Change{Slots: Slots{{2 * i, 2 * i}}, From: n, To: n})
	}
	told := <-f.Changes()
	if len(told) != 1 || !told[0].Slots.All() {
		t.Errorf("told of %d ranges in %d changes", len(told[0].Slots), len(told))
	}
}

func TestSlotsHaveTheirEnds(t *testing.T) {
	t.Parallel()
	s := Slots{{3, 5}, {9, 9}}
	for slot, want := range map[uint16]bool{2: false, 3: true, 5: true, 6: false, 8: false, 9: true, 10: false} {
		if s.Has(slot) != want {
			t.Errorf("slot %d: %t", slot, !want)
		}
	}
	if s.All() || !AllSlots.All() || !AllSlots.Has(0) || !AllSlots.Has(16383) {
		t.Error("all slots are not told from some")
	}
}
