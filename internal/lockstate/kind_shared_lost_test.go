package lockstate

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/release"
	"github.com/rlock-go/redisson/internal/section"
)

func TestLostTryOfOneKindIsNotMistakenForTheOthersHold(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, d := openDropping(t, s)
	r, w := sharedLocks(c)
	as := Terms{As: true, Owner: c.NewOwner()}
	write := acquireAs(t, w, as)
	do(t, s.Dial(t), "SCRIPT", "LOAD", readLock.Source)
	d.drop(readLock.SHA1)
	read := acquireAs(t, r, as) // it was granted, undone, and granted again
	if d.lost.Load() != 1 {
		t.Fatal("nothing was lost")
	}
	if n := do(t, s.Dial(t), "HGET", "rw", as.Owner.String()); string(n.([]byte)) != "1" {
		t.Errorf("it reads %s times", n)
	}
	unlock(t, read)
	unlock(t, write)
	becomes(t, s.Dial(t), 0, "EXISTS", "rw")
}

func TestLostTryIsNotMistakenForTheOtherKindsUnlockBehindIt(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, d := openDropping(t, s)
	r, w := sharedLocks(c)
	as := Terms{As: true, Owner: c.NewOwner()}
	write := acquireAs(t, w, as)
	do(t, s.Dial(t), "SCRIPT", "LOAD", readLock.Source)
	d.drop(readLock.SHA1)
	ended := make(chan outcome, 1)
	wait(t.Context(), t, r, 0, ended, as)
	unlock(t, write) // the owner's next command, sent after the attempt whose reply is lost
	read := next(t, ended).hold
	if d.lost.Load() != 1 {
		t.Fatal("nothing was lost")
	}
	if n := do(t, s.Dial(t), "HGET", "rw", as.Owner.String()); string(n.([]byte)) != "1" {
		t.Errorf("it reads %s times", n)
	}
	unlock(t, read)
	becomes(t, s.Dial(t), 0, "EXISTS", "rw")
}

// A release that may still arrive limits what later leases of its owner may be trusted for, if it can cut them.
func TestLateReleaseToWriteThatLeavesNoLeaseCutsNone(t *testing.T) {
	t.Parallel()
	c, err := New(config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for of, want := range map[kind.Kind]time.Duration{kind.WriteLock: time.Minute, kind.ReadLock: 0} {
		l := c.NewLock(of, "doc", "doc")
		sec := l.s.Enter(section.MustNotBlock)
		n := l.s.pin(&l)
		st := n.ensureOwnerState(c.NewOwner())
		r := &releasing{st: st, l: &l}
		r.Apply(release.Late)
		if least := st.least(n.now(), time.Minute); least != want {
			t.Errorf("behind a late %s unlock a lease of a minute is trusted for %v, want %v", of.Traits().Queue, least, want)
		}
		n.unpin()
		sec.Leave()
	}
}
