package behaviour_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/rlock"
)

func TestHoldCountFollowsEachAcquireAndRelease(t *testing.T) {
	r := start(t)
	c := r.open()
	l := c.NewLock(r.name())
	owner := c.NewOwner()
	is := func(want int) {
		t.Helper()
		n, err := l.HoldCount(t.Context(), owner)
		held, heldErr := l.IsHeldBy(t.Context(), owner)
		locked, lockedErr := l.IsLocked(t.Context())
		if n != want || held != (want > 0) || locked != (want > 0) || err != nil || heldErr != nil || lockedErr != nil {
			t.Errorf("count %d, held %v, locked %v, want %d (%v, %v, %v)", n, held, locked, want, err, heldErr, lockedErr)
		}
		if on := r.Text("HGET", l.Name(), owner.String()); on != "" && on != fmt.Sprint(want) {
			t.Errorf("the server has %s", on)
		}
	}
	is(0)
	outer := r.Lock(l, rlock.As(owner))
	is(1)
	inner := r.Lock(l, rlock.As(owner))
	is(2)
	r.Unlock(outer) // either one may go first
	is(1)
	wants(t, outer.Unlock(t.Context()), rlock.ErrReleased)
	is(1)
	r.Unlock(inner)
	is(0)
}

func TestLockHeldByAnother(t *testing.T) {
	r := start(t)
	c, other := r.open(), r.open()
	l := c.NewLock(r.name())
	h := r.Lock(l)
	for behaviour, who := range map[string]rlock.Owner{
		"owner of the same client": c.NewOwner(),
		"owner of another client":  other.NewOwner(),
	} {
		t.Run(behaviour, func(t *testing.T) {
			if held, err := l.IsHeldBy(t.Context(), who); held || err != nil {
				t.Errorf("held %v, %v", held, err)
			}
			if n, err := l.HoldCount(t.Context(), who); n != 0 || err != nil {
				t.Errorf("count %d, %v", n, err)
			}
			_, err := other.NewLock(l.Name()).TryLock(t.Context(), rlock.As(who))
			wants(t, err, rlock.ErrLocked, l.Name())
		})
	}
	t.Run("is seen by everybody as locked", func(t *testing.T) {
		there := other.NewLock(l.Name())
		if locked, err := there.IsLocked(t.Context()); !locked || err != nil {
			t.Errorf("locked %v, %v", locked, err)
		}
		if held, err := there.IsHeldBy(t.Context(), h.Owner()); !held || err != nil {
			t.Errorf("held %v, %v", held, err)
		}
	})
	r.Unlock(h)
}

func TestStrangerCannotUnlock(t *testing.T) {
	r := start(t)
	c, other := r.open(), r.open()
	l := c.NewLock(r.name())
	h := r.Lock(l)
	stranger := other.NewOwner()
	_, thread, _ := strings.Cut(stranger.String(), ":")
	said := fmt.Sprintf("not locked by current thread by node id: %s thread-id: %s", other.ID(), thread)
	t.Run("of a held lock", func(t *testing.T) {
		wants(t, other.NewLock(l.Name()).UnlockAs(t.Context(), stranger), rlock.ErrNotHeld, said, l.Name())
		if n, err := l.HoldCount(t.Context(), h.Owner()); n != 1 || err != nil {
			t.Errorf("count %d, %v", n, err)
		}
		if h.Err() != nil {
			t.Error(h.Err())
		}
	})
	t.Run("of a free lock", func(t *testing.T) {
		wants(t, other.NewLock(r.name()).UnlockAs(t.Context(), stranger), rlock.ErrNotHeld, said)
	})
	t.Run("but another process's owner can be released by its string", func(t *testing.T) {
		owner, err := rlock.ParseOwner(h.Owner().String())
		if err != nil || owner != h.Owner() {
			t.Fatalf("%v, %v", owner, err)
		}
		wants(t, l.UnlockAs(t.Context(), owner), rlock.ErrInvalidOption, "has a Hold in this client")
		if err := other.NewLock(l.Name()).UnlockAs(t.Context(), owner); err != nil {
			t.Error(err)
		}
		if r.Number("EXISTS", l.Name()) != 0 {
			t.Error("still locked")
		}
	})
}
