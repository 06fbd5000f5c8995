package virtual_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// The text and the errors of a MultiHold are one line each, which says how many holds there are and what became of which.
func TestMultiHoldSaysInOneLineWhatBecameOfWhichMember(t *testing.T) {
	bg := context.Background()
	inBubble(t, func(r *rig) {
		c, other := r.open(), r.open()
		m := rlock.NewMultiLock(c.NewLock("stock"), c.NewLock("account"), c.NewLock("audit"))
		h := must(m.Lock(bg, rlock.Lease(time.Hour)))(r)
		owner := h.Holds()[1].Owner().String()
		says := func(what string, err error, want string, is ...error) {
			r.Helper()
			if err == nil || err.Error() != want {
				r.Errorf("%s:\n%v, want\n%s", what, err, want)
			}
			for _, is := range is {
				if !errors.Is(err, is) {
					r.Errorf("%s: it is no %v", what, is)
				}
			}
		}
		if got, want := h.String(), `rlock.MultiHold(3 holds, "stock, account, audit")`; got != want {
			r.Errorf("%s, want %s", got, want)
		}
		says("an Extend by nothing", h.Extend(bg, 0), `rlock: extend "stock, account, audit": invalid option: a lease of 0s; at least 1ms`, rlock.ErrInvalidOption)
		must(other.NewLock("account").ForceUnlock(bg))(r)
		says("an Extend", h.Extend(bg, time.Minute), `rlock: extend 3 holds: extended "stock, audit"; "account": lease lost: the server no longer knows of it`, rlock.ErrLeaseLost, rlock.ErrNotHeld)
		if err := h.Holds()[2].Unlock(bg); err != nil {
			r.Error(err)
		}
		says("an Unlock", h.Unlock(bg), `rlock: release 3 holds: released "stock"; "account": lease lost: the server no longer knows of it; nothing was left to release for owner `+
			owner+`; "audit": already released`, rlock.ErrLeaseLost, rlock.ErrReleased)
		says("a second Unlock", h.Unlock(bg), `rlock: release 3 holds: released none; "stock": already released; "account": already released; "audit": already released`, rlock.ErrReleased)

		h = must(m.Lock(bg, rlock.Lease(time.Hour)))(r)
		if err := h.Extend(bg, time.Minute); err != nil {
			r.Error(err)
		}
		if err := h.Unlock(bg); err != nil {
			r.Error(err)
		}
	})
}
