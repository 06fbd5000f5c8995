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

func TestWhatSharesAnOwner(t *testing.T) {
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
			if share(o); a.Exclusive(before) || a.Exclusive(o) || !a.Exclusive(after) {
				t.Errorf("%s: %v, %v and %v are alone, want the last only", what, a.Exclusive(before), a.Exclusive(o), a.Exclusive(after))
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

// Parse marks its owner and all older ones of the client, and from then on acquires are shared.
func TestParsedOwnersAreKnown(t *testing.T) {
	a := use(t)
	old, o, next := a.OfAcquire(), a.OfAcquire(), a.OfAcquire()
	if a.Parsed(old) || a.SharesAcquires() {
		t.Error("nobody has read any")
	}
	if got, err := Parse(o.String()); got != o || err != nil {
		t.Fatal(got, err)
	}
	if !a.Parsed(old) || !a.Parsed(o) || a.Parsed(next) || !a.SharesAcquires() {
		t.Errorf("read: %v, %v and %v", a.Parsed(old), a.Parsed(o), a.Parsed(next))
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
