package security

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// names would mean something if any code looked inside them.
var names = map[string]string{
	"spaces":                "  two words ",
	"line breaks":           "a\r\nDEL other\r\n*1\r\n$8\r\nFLUSHALL\r\n",
	"NUL":                   "a\x00b",
	"no UTF-8":              "\xff\xfe\x80",
	"braces":                "{tag}rest",
	"braces the wrong way":  "}a{b",
	"a star":                "*",
	"a prefix and a star":   "other*",
	"question marks":        "othe?",
	"a class":               "[a-z]ther",
	"a backslash":           `\other`,
	"quotes":                `"other' --`,
	"a percent verb":        "%s%n%!d(MISSING)%x",
	"terminal escapes":      "\x1b[2J\x07",
	"a script":              `"]); redis.call("flushall"); --`,
	"the channel's own":     "redisson_lock__channel:{other}",
	"the latch's own":       "redisson_unlock_latch:{other}:0",
	"64 KiB":                strings.Repeat("long-", 64<<10/5) + "name",
	"64 KiB of stars":       strings.Repeat("*", 64<<10),
	"64 KiB of line breaks": strings.Repeat("\r\n", 32<<10),
}

// TestNamesAreData takes each name through lock, wait, wake-up, re-entry, queries and force. A pattern or a command inside
// the name would affect another lock or its waiter.
func TestNamesAreData(t *testing.T) {
	r := on(t, redisserver.Local(t))
	first, second := r.Open(r.Server.URL(), options...), r.Open(r.Server.URL(), options...)
	other := first.NewLock("other")
	for what, name := range names {
		t.Run(what, func(t *testing.T) {
			r := &rig{&testbed.Rig{T: t, Server: r.Server, Conn: r.Conn}}
			ctx := t.Context()
			bystander := r.Lock(other, rlock.Lease(time.Minute))
			listener := testbed.Enter(ctx, second.NewLock("other"))
			r.Listeners("other", 1)

			l := first.NewLock(name)
			h := r.Lock(l)
			if n, err := redis.Int(r.Conn.Do("HGET", name, h.Owner().String())); n != 1 || err != nil {
				t.Errorf("the key does not have exactly that name: %d, %v", n, err)
			}
			inner := r.Lock(l, rlock.As(h.Owner()))
			if n, err := l.HoldCount(ctx, h.Owner()); n != 2 || err != nil {
				t.Errorf("count %d, %v", n, err)
			}
			waiter := testbed.Enter(ctx, second.NewLock(name), rlock.Lease(time.Minute))
			r.Listeners(name, 1)
			r.Unlock(inner)
			r.Unlock(h)
			last := r.Entered(waiter).Hold
			if there, err := l.ForceUnlock(ctx); !there || err != nil {
				t.Errorf("forced: %v, %v", there, err)
			}
			_ = last.Unlock(ctx) // returns that it was forced
			r.Becomes("no subscription of its own", func() bool { return r.Subscribed(name) == 0 })

			// The other lock and its waiter are as before.
			if err := bystander.Err(); err != nil {
				t.Errorf("the bystander: %v", err)
			}
			if count := r.Number("HLEN", "other"); count != 1 {
				t.Errorf("the bystander's key has %d owners", count)
			}
			if n := r.Number("PUBSUB", "NUMPAT"); n != 0 {
				t.Errorf("%d patterns subscribed", n)
			}
			select {
			case e := <-listener:
				t.Fatalf("the listener's wait ended: %v", e.Err)
			default:
			}
			r.Unlock(bystander)
			r.Unlock(r.Entered(listener).Hold)
			r.Becomes("an empty server", func() bool { return r.Number("DBSIZE") == 0 })
		})
	}
}

// TestOddNamesAreRenewedTogether has one script renew all of them.
func TestOddNamesAreRenewedTogether(t *testing.T) {
	t.Parallel()
	r := on(t, redisserver.Local(t))
	c := r.Open(r.Server.URL(), options...)
	var holds []*rlock.Hold
	for _, name := range names {
		holds = append(holds, r.Lock(c.NewLock(name)))
	}
	<-time.After(watchdog * 3 / 2)
	for _, h := range holds {
		if n, err := redis.Int(r.Conn.Do("HGET", h.Name(), h.Owner().String())); n != 1 || err != nil || h.Err() != nil {
			t.Errorf("%.50q after more than a lease: %d, %v, %v", h.Name(), n, err, h.Err())
		}
		r.Unlock(h)
	}
}

// tries counts the scripts that the server ran.
func (r *rig) tries() int {
	r.Helper()
	return r.Calls()["EVALSHA"]
}

// TestAMessageWakesItsOwnWaitersOnly: a message for a lock whose name a pattern matches does not wake a waiter whose lock
// is named like the pattern, nor the other way round.
func TestAMessageWakesItsOwnWaitersOnly(t *testing.T) {
	r := on(t, redisserver.Local(t))
	r.LoadScripts()
	c := r.Open(r.Server.URL())
	for _, pair := range [][2]string{{"o*", "orders"}, {"orders", "o*"}, {"[o]rders", "orders"}, {"?rders", "orders"}, {"*", "{x}"}} {
		t.Run(pair[0]+" beside "+pair[1], func(t *testing.T) {
			r := &rig{&testbed.Rig{T: t, Server: r.Server, Conn: r.Conn}}
			began := r.tries()
			h := r.Lock(c.NewLock(pair[0]), rlock.Lease(time.Minute))
			waiter := testbed.Enter(t.Context(), c.NewLock(pair[0]))
			r.Becomes("the waiter's try after it subscribed", func() bool { return r.tries() == began+3 })
			sibling := r.Lock(c.NewLock(pair[1]))
			before := r.tries()
			r.Unlock(sibling)
			// A command after the unlock: a woken waiter would try at once.
			if _, err := c.NewLock(pair[0]).TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
				t.Error(err)
			}
			if n := r.tries() - before; n != 2 {
				t.Errorf("%d scripts, want the unlock and the probe", n)
			}
			r.Unlock(h)
			r.Unlock(r.Entered(waiter).Hold)
		})
	}
}

func TestErrorsQuoteNames(t *testing.T) {
	r := on(t, redisserver.Local(t))
	c := r.Open(r.Server.URL(), options...)
	for what, name := range names {
		t.Run(what, func(t *testing.T) {
			l := c.NewLock(name)
			_, e1 := l.RemainTTL(t.Context())
			e2 := l.UnlockAs(t.Context(), c.NewOwner())
			_, e3 := l.Lock(t.Context(), rlock.Lease(0))
			for _, err := range []error{e1, e2, e3} {
				if err == nil {
					t.Fatal("no error")
				}
				text := err.Error()
				if strings.ContainsAny(text, "\r\n\x00\x1b\x07") || strings.Contains(text, "\xff") {
					t.Errorf("not quoted: %.200q", text)
				}
				if len(text) > 1000 {
					t.Errorf("%d bytes of error", len(text))
				}
			}
		})
	}
}
