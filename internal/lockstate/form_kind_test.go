package lockstate

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/redistest"
)

// formed is a kind whose older clients wrote owners in another form, and whose release must not be repeated.
type formed struct{ kind.Kind }

var formedKind kind.Kind = formed{kind.Reentrant}

var formedTraits = kind.Traits{Family: "formed", Width: 1, KeyType: "hash", RenewGroup: "owned hash"}

var formedUnlock = script("formed_unlock", `
	if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return nil end
	redis.call('del', KEYS[1])
	return 1`)

func (formed) Traits() *kind.Traits { return &formedTraits }

func (formed) Release(_ []any, w *kind.Want) kind.Call {
	if w.Latch != nil {
		panic("a latch for a kind that has none")
	}
	return run(formedUnlock, kind.Unrun, w.Names[:1], w.Owner)
}

func (formed) Released(reply any, w *kind.Want) (kind.Release, *kind.Call, error) {
	did, err := codec.DecodeRelease(reply)
	if did != codec.NotHeld || err != nil {
		return did, nil, err
	}
	older := run(formedUnlock, kind.Unrun, w.Names[:1], "older:"+w.Owner.String())
	return did, &older, nil
}

func TestReleaseOfASecondForm(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := open(t, s)
	l := c.NewLock(formedKind, "f", "f")
	h := acquire(t, &l)
	unlock(t, h)
	becomes(t, conn, 0, "EXISTS", "f")

	h = acquire(t, &l)
	do(t, conn, "DEL", "f")
	do(t, conn, "HSET", "f", "older:"+h.Owner().String(), 1)
	unlock(t, h)
	becomes(t, conn, 0, "EXISTS", "f")

	h = acquire(t, &l)
	do(t, conn, "DEL", "f")
	if err := h.Unlock(t.Context()); !errors.Is(err, ErrNotHeld) {
		t.Errorf("neither form is held: %v", err)
	}
	if n := do(t, conn, "DBSIZE"); n != int64(0) {
		t.Errorf("%v keys are left", n)
	}
}

func TestLostReleaseThatMustNotBeRepeatedIsUncertain(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c, d := openDropping(t, s)
	l := c.NewLock(formedKind, "f", "f")
	h := acquire(t, &l)
	do(t, conn, "SCRIPT", "LOAD", formedUnlock.Source)
	began := time.Now()
	d.drop(formedUnlock.SHA1)
	if err := h.Unlock(t.Context()); !errors.Is(err, ErrUncertain) {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > soon {
		t.Errorf("it took %v", took)
	}
	if d.lost.Load() != 1 {
		t.Error("nothing was lost")
	}
	h = acquire(t, &l) // it had run
	unlock(t, h)
}
