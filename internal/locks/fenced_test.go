package locks

import (
	"testing"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A grant whose reply was lost is made again. The first token is used up: no other grant gets the same one.
func TestTokenOfALostGrantIsUsedUp(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c, d := openDropping(t, s)
	l := c.NewLock(kind.Fenced, "f", "f")
	do(t, conn, "SCRIPT", "LOAD", luasrc.FencedLockScript.Source)
	loses := func(terms Terms, token int64) *Hold {
		t.Helper()
		before := d.lost.Load()
		d.drop(luasrc.FencedLockScript.SHA1)
		h := acquireAs(t, &l, terms)
		if d.lost.Load() != before+1 {
			t.Fatal("nothing was lost")
		}
		if h.Token() != token {
			t.Errorf("token %d, want %d", h.Token(), token)
		}
		if last := do(t, conn, "GET", codec.TokenKey("f")); string(last.([]byte)) != string(rune('0'+token)) {
			t.Errorf("the last token is %s, want %d", last, token)
		}
		return h
	}
	outer := loses(Terms{}, 2)
	inner := loses(Terms{As: true, Owner: outer.Owner()}, 4)
	if outer.Token() != 4 {
		t.Errorf("the outer hold has token %d", outer.Token())
	}
	if n := do(t, conn, "HGET", "f", outer.Owner().String()); string(n.([]byte)) != "2" {
		t.Errorf("it holds %s times", n)
	}
	mustUnlock(t, inner)
	mustUnlock(t, outer)
	becomes(t, conn, 0, "EXISTS", "f")
}
