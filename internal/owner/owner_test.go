package owner

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/lockerr"
)

// use makes the actors of a client that stays open during the test.
func use(t *testing.T) *Actors {
	t.Helper()
	a := new(Actors)
	a.Init(uuid.New())
	t.Cleanup(a.Close)
	return a
}

func never() bool { return false }

func TestWhatMakesAnOwnerForeign(t *testing.T) {
	a, other := use(t), use(t)
	for what, share := range map[string]func(Owner){
		"its text":       func(o Owner) { _ = o.Share() },
		"its text, read": func(o Owner) { _, _ = Parse(o.String()) },
	} {
		for _, made := range []func() Owner{a.New, a.OfAcquire} {
			before, o, after := made(), made(), made()
			if !a.Exclusive(before) || !a.Exclusive(o) || other.Exclusive(o) {
				t.Errorf("%s: at first it is %v, %v and for another client %v", what, a.Exclusive(before), a.Exclusive(o), other.Exclusive(o))
			}
			if share(o); !a.Exclusive(before) || a.Exclusive(o) || !a.Exclusive(after) {
				t.Errorf("%s: %v, %v and %v are own, want all but the second", what, a.Exclusive(before), a.Exclusive(o), a.Exclusive(after))
			}
		}
	}
}

func TestWhoMayAct(t *testing.T) {
	a, other := use(t), use(t)
	foreign, own, out, stray := other.OfAcquire(), a.OfAcquire(), a.OfAcquire(), a.New()
	newest := a.OfAcquire()
	if err := a.MayAct(own, never); !errors.Is(err, lockerr.ErrInvalidOption) {
		t.Errorf("one that was never handed out: %v", err)
	}
	a.HandOut(out)
	a.HandOut(foreign) // has no effect: it is another client's
	a.Stray(stray)
	a.Stray(stray)
	for _, row := range []struct {
		what  string
		o     Owner
		knows bool
		err   error
	}{
		{what: "another client's", o: foreign},
		{what: "one handed out", o: out},
		{what: "an older one", o: own},
		{what: "a newer one", o: newest, err: lockerr.ErrInvalidOption},
		{what: "one that holds", o: newest, knows: true},
		{what: "and has acted", o: newest},
		{what: "a number that is not made yet", o: Owner{a.client, newest.thread + 2}, knows: true, err: lockerr.ErrInvalidOption},
		{what: "no number", o: Owner{a.client, 0}, knows: true, err: lockerr.ErrInvalidOption},
		{what: "a stray", o: stray, err: lockerr.ErrUncertain},
		{what: "one that was made to be handed out", o: a.New()},
	} {
		if err := a.MayAct(row.o, func() bool { return row.knows }); !errors.Is(err, row.err) {
			t.Errorf("%s: %v, want %v", row.what, err, row.err)
		}
	}
	if a.Arrived(stray); !a.IsStray(stray) {
		t.Error("two may arrive, and one did")
	}
	if a.Arrived(stray); a.IsStray(stray) || len(a.strays.of) > 0 || a.MayAct(stray, never) != nil {
		t.Errorf("both have arrived; %d are remembered", len(a.strays.of))
	}
}

// A client remembers which of its owners are foreign, the newest ones of each sort, and takes all older ones for foreign.
func TestForeignOwnersAreRememberedUpToABound(t *testing.T) {
	a := use(t)
	other, own, first := a.New(), a.OfAcquire(), a.OfAcquire()
	_ = first.Share()
	for range foreignKept - 1 {
		_ = a.OfAcquire().Share()
		_ = a.OfAcquire()
	}
	last := a.OfAcquire()
	if !a.Exclusive(own) || a.Exclusive(first) || !a.Exclusive(last) {
		t.Errorf("%v, %v and %v are own, want the first and the last", a.Exclusive(own), a.Exclusive(first), a.Exclusive(last))
	}
	_ = last.Share()
	if a.Exclusive(own) || a.Exclusive(first) || a.Exclusive(last) || !a.Exclusive(a.OfAcquire()) || !a.Exclusive(other) {
		t.Error("with one more it is not so that the oldest ones are foreign, and those of the other sort are not")
	}
	if _ = own.Share(); a.Exclusive(own) || len(a.foreign[odd].of) != foreignKept {
		t.Errorf("%d are remembered", len(a.foreign[odd].of))
	}
	if _, err := Parse("f"); err == nil {
		t.Error("no owner is read as one")
	}
}

// A closed client costs nothing, and its owners can still be parsed.
func TestClosedClientIsForgotten(t *testing.T) {
	a := use(t)
	o := a.New()
	a.Close()
	if o.actors() != nil {
		t.Error("it is remembered")
	}
	if got, err := Parse(o.Share()); got != o || err != nil {
		t.Error(got, err)
	}
}
