package locks

import (
	"context"
	"errors"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// No lease ever restores permits given back to a semaphore, or a latch's countdown. So they are repeated.
func TestChangeThatTheNextMasterLacksIsSentAgain(t *testing.T) {
	t.Parallel()
	r := newReplaced(t)
	seats := r.c.NewLock(kind.Semaphore(1), "seats", "seats")
	change := func(due bool, how string, n int) {
		t.Helper()
		if _, err := Change(t.Context(), &seats, due, func(w *kind.Want) kind.Call { return kind.ChangeSemaphore(w, how, n, 0) }); err != nil {
			t.Fatal(err)
		}
	}
	free := func(want string) {
		t.Helper()
		if got, err := redis.String(r.conn.Do("GET", "seats")); got != want || err != nil {
			t.Errorf("%q are free, %v; want %s", got, err, want)
		}
	}
	change(false, luasrc.SetFirst, 1)
	r.keep()
	change(true, luasrc.GiveBack, 2)
	repeated(t, r.c)
	free("3") // the receipt on this server stops the repetition
	r.setBack()
	free("1")
	repeated(t, r.c)
	free("3")
	repeated(t, r.c)
	free("3")
	r.keep()
	change(false, luasrc.AddMore, 1) // only sets the number and gives nothing back, so it is not repeated
	free("4")
	r.setBack()
	repeated(t, r.c)
	free("3")
}

// If the next master lacks an undo, the repeated undo gives the permit back there.
func TestUndoThatTheNextMasterLacksIsSentAgain(t *testing.T) {
	t.Parallel()
	r := newReplaced(t)
	seats := r.c.NewLock(kind.Semaphore(1), "seats", "seats")
	do(t, r.conn, "SET", "seats", 1)
	w := NewWaiter(&seats)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	redistest.Becomes(t, "the grant is there", func() bool { return w.snapshot().ended })
	r.keep() // with the acquire and its receipt
	if _, err := w.Result(t.Context(), context.Canceled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	becomes(t, r.conn, 1, "INCRBY", "seats", 0)
	redistest.Becomes(t, "the client knows that it ran", func() bool { return r.c.work.Count() == 0 })
	r.setBack()
	repeated(t, r.c)
	becomes(t, r.conn, 1, "INCRBY", "seats", 0)
}
