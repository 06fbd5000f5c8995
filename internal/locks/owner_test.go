package locks

import (
	"errors"
	"testing"

	"github.com/google/uuid"
)

// use makes the actors of a client that stays open during the test.
func use(t *testing.T) *actors {
	t.Helper()
	a := new(actors)
	a.init(uuid.New())
	t.Cleanup(a.Close)
	return a
}

func never() bool { return false }

func TestWhatMakesAnOwnerForeign(t *testing.T) {
	a, other := use(t), use(t)
	for what, share := range map[string]func(Owner){
		"its text":       func(o Owner) { _ = o.Share() },
		"its text, read": func(o Owner) { _, _ = ParseOwner(o.String()) },
	} {
		for _, made := range []func() Owner{a.new, a.ofAcquire} {
			before, o, after := made(), made(), made()
			if !a.exclusive(before) || !a.exclusive(o) || other.exclusive(o) {
				t.Errorf("%s: at first it is %v, %v and for another client %v", what, a.exclusive(before), a.exclusive(o), other.exclusive(o))
			}
			if share(o); !a.exclusive(before) || a.exclusive(o) || !a.exclusive(after) {
				t.Errorf("%s: %v, %v and %v are own, want all but the second", what, a.exclusive(before), a.exclusive(o), a.exclusive(after))
			}
		}
	}
}

func TestWhoMayAct(t *testing.T) {
	a, other := use(t), use(t)
	foreign, own, out, stray := other.ofAcquire(), a.ofAcquire(), a.ofAcquire(), a.new()
	newest := a.ofAcquire()
	if err := a.mayAct(own, never); !errors.Is(err, ErrInvalidOption) {
		t.Errorf("one that was never handed out: %v", err)
	}
	a.handOut(out)
	a.handOut(foreign) // has no effect: it is another client's
	a.strays.count(stray, 1)
	a.strays.count(stray, 1)
	for _, row := range []struct {
		what  string
		o     Owner
		knows bool
		err   error
	}{
		{what: "another client's", o: foreign},
		{what: "one handed out", o: out},
		{what: "an older one", o: own},
		{what: "a newer one", o: newest, err: ErrInvalidOption},
		{what: "one that holds", o: newest, knows: true},
		{what: "and has acted", o: newest},
		{what: "a number that is not made yet", o: Owner{a.client, newest.thread + 2}, knows: true, err: ErrInvalidOption},
		{what: "no number", o: Owner{a.client, 0}, knows: true, err: ErrInvalidOption},
		{what: "a stray", o: stray, err: ErrUncertain},
		{what: "one that was made to be handed out", o: a.new()},
	} {
		if err := a.mayAct(row.o, func() bool { return row.knows }); !errors.Is(err, row.err) {
			t.Errorf("%s: %v, want %v", row.what, err, row.err)
		}
	}
	if a.strays.count(stray, -1); !a.isStray(stray) {
		t.Error("two may arrive, and one did")
	}
	if a.strays.count(stray, -1); a.isStray(stray) || len(a.strays.of) > 0 || a.mayAct(stray, never) != nil {
		t.Errorf("both have arrived; %d are remembered", len(a.strays.of))
	}
}

// A client remembers which of its owners are foreign, the newest ones of each sort, and takes all older ones for foreign.
func TestForeignOwnersAreRememberedUpToABound(t *testing.T) {
	a := use(t)
	other, own, first := a.new(), a.ofAcquire(), a.ofAcquire()
	_ = first.Share()
	for range foreignKept - 1 {
		_ = a.ofAcquire().Share()
		_ = a.ofAcquire()
	}
	last := a.ofAcquire()
	if !a.exclusive(own) || a.exclusive(first) || !a.exclusive(last) {
		t.Errorf("%v, %v and %v are own, want the first and the last", a.exclusive(own), a.exclusive(first), a.exclusive(last))
	}
	_ = last.Share()
	if a.exclusive(own) || a.exclusive(first) || a.exclusive(last) || !a.exclusive(a.ofAcquire()) || !a.exclusive(other) {
		t.Error("with one more it is not so that the oldest ones are foreign, and those of the other sort are not")
	}
	if _ = own.Share(); a.exclusive(own) || len(a.foreign[odd].of) != foreignKept {
		t.Errorf("%d are remembered", len(a.foreign[odd].of))
	}
	if _, err := ParseOwner("f"); err == nil {
		t.Error("no owner is read as one")
	}
}

// A closed client costs nothing, and its owners can still be parsed.
func TestActorsOfAClosedClientAreForgotten(t *testing.T) {
	a := use(t)
	o := a.new()
	a.Close()
	if o.actors() != nil {
		t.Error("it is remembered")
	}
	if got, err := ParseOwner(o.Share()); got != o || err != nil {
		t.Error(got, err)
	}
}
