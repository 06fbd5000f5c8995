package virtual_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// What a key has that no lock or semaphore writes is told in the words of rlock, and as a *luasrc.ShapeError.
func TestErrorsOfOddRepliesSpeakOfTheKey(t *testing.T) {
	const owner = "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:1"
	bg := context.Background()
	for what, row := range map[string]struct {
		has  []string // the command that makes the key
		call func(*rlock.Client) error
		says string
	}{
		"a hold count that is no number": {[]string{"HSET", "orders", owner, "many"}, func(c *rlock.Client) error {
			o, err := rlock.ParseOwner(owner)
			if err == nil {
				_, err = c.NewLock("orders").HoldCount(bg, o)
			}
			return err
		}, `rlock: ask about "orders": the server sent an unexpected hold count: bulk string "many"`},
		"a number that is none": {[]string{"SET", "orders", "many"}, func(c *rlock.Client) error {
			_, err := c.NewSemaphore("orders").Available(bg)
			return err
		}, `rlock: ask about "orders": the server sent an unexpected number: bulk string "many"`},
		"a hash without a mode": {[]string{"HSET", "orders", "colour", "red"}, func(c *rlock.Client) error {
			_, err := c.NewReadWriteLock("orders").ReadLock().TryLockFor(bg, time.Second)
			return err
		}, `rlock: acquire "orders": the key is a hash that is no lock of this kind (a hash without mode)`},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				c := r.open()
				r.at(func() { r.server.Session(host(9)).Do(row.has...) })
				err := row.call(c)
				if _, is := errors.AsType[*luasrc.ShapeError](err); err == nil || !is || !errors.Is(err, rlock.ErrRefused) || err.Error() != row.says {
					t.Errorf("\n%v, want\n%s", err, row.says)
				}
			})
		})
	}
	const odd = `rlock: invalid option: owner "me": not a UUID of 36 characters followed by a colon and a thread id`
	if _, err := rlock.ParseOwner("me"); !errors.Is(err, rlock.ErrInvalidOption) || err.Error() != odd {
		t.Errorf("\n%v, want\n%s", err, odd)
	}
}
