package locks

import (
	"testing"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// The acquire ran. Sent again as it was, it would be refused to its own owner.
func TestLostGrantOfANonReentrantLockIsNotTakenForAReentry(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c, d := openDropping(t, s)
	l := c.NewLock(kind.NonReentrant, "n", "n")
	do(t, conn, "SCRIPT", "LOAD", luasrc.NonReentrantLockScript.Source)
	for i, terms := range []Terms{{}, {As: true, Owner: c.NewOwner()}} {
		d.drop(luasrc.NonReentrantLockScript.SHA1)
		h := acquireAs(t, &l, terms)
		if d.lost.Load() != int32(i+1) {
			t.Fatal("nothing was lost")
		}
		mustUnlock(t, h)
		becomes(t, conn, 0, "EXISTS", "n")
	}
}
