package locks

import (
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
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
	mustUnlock(t, read)
	mustUnlock(t, write)
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
	mustUnlock(t, write) // the owner's next command, sent after the attempt whose reply is lost
	read := next(t, ended).hold
	if d.lost.Load() != 1 {
		t.Fatal("nothing was lost")
	}
	if n := do(t, s.Dial(t), "HGET", "rw", as.Owner.String()); string(n.([]byte)) != "1" {
		t.Errorf("it reads %s times", n)
	}
	mustUnlock(t, read)
	becomes(t, s.Dial(t), 0, "EXISTS", "rw")
}
