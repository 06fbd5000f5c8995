package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// oneOwner are the kinds of locks that have one owner, by name.
var oneOwner = map[string]func(*rlock.Client, string) *rlock.Lock{
	"plain": (*rlock.Client).NewLock, "spin": (*rlock.Client).NewSpinLock, "fair": (*rlock.Client).NewFairLock,
	"fenced": (*rlock.Client).NewFencedLock, "non-reentrant": (*rlock.Client).NewNonReentrantLock,
}

// A hash that is no lock and never expires is named by each call, but for those of a fair lock, which don't learn the TTL. One with
// a TTL counts as locked until it expires.
func TestHashThatIsNoLockIsNamedToThoseThatWait(t *testing.T) {
	bg := context.Background()
	const (
		no         = `the key is a hash that is no lock of this kind (field "colour")`
		noMode     = `the key is a hash that is no lock of this kind (a hash without mode)`
		locked     = "locked by another owner"
		unanswered = ": the last attempt was not answered in time; whatever it took is given back"
		after      = "context deadline exceeded: refused for 10s"
	)
	type says struct{ once, waited, ended, info string } // TryLock, TryLockFor, Lock whose context ends, Info
	eternal := says{no, no, after + ", it never expires (last trouble: " + no + ")", no}
	timed := says{locked + ": its last known TTL was 1m0s", locked + ": refused for 5s, its last known TTL was 1m0s", after + ", its last known TTL was 1m0s", no}
	fair := says{locked, locked + ": refused for 5s", after, no}
	readWrite := says{noMode, noMode, noMode, noMode}
	ttl := regexp.MustCompile(`\b5\d\.\d+s\b`)
	for kind, of := range map[string]func(*rlock.Client, string) *rlock.Lock{
		"plain": oneOwner["plain"], "spin": oneOwner["spin"], "fair": oneOwner["fair"], "fenced": oneOwner["fenced"], "non-reentrant": oneOwner["non-reentrant"],
		"read":  func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).ReadLock() },
		"write": func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).WriteLock() },
	} {
		for _, expires := range []bool{false, true} {
			want := map[string]says{"fair": fair, "read": readWrite, "write": readWrite}[kind]
			switch {
			case want.once == "" && expires:
				want = timed
			case want.once == "":
				want = eternal
			}
			t.Run(fmt.Sprintf("%s, expires: %t", kind, expires), func(t *testing.T) {
				inBubble(t, func(r *rig) {
					l := of(r.open(), "orders")
					for _, call := range []struct {
						name, says string
						do         func() error
					}{
						{"TryLock", want.once, func() error { _, err := l.TryLock(bg); return err }},
						{"TryLockFor", want.waited, func() error { _, err := l.TryLockFor(bg, 5*time.Second); return err }},
						{"Lock", want.ended, func() error {
							ctx, cancel := context.WithTimeout(bg, 10*time.Second)
							defer cancel()
							_, err := l.Lock(ctx)
							return err
						}},
						{"Info", want.info, func() error { _, err := l.Info(bg); return err }},
					} {
						r.at(func() {
							c := r.server.Session(host(9))
							c.Do("HSET", "orders", "colour", "red")
							if expires {
								c.Do("PEXPIRE", "orders", "60000")
							}
						})
						err := call.do()
						if err == nil {
							r.Fatalf("%s: no error", call.name)
						}
						_, text, _ := strings.Cut(ttl.ReplaceAllString(err.Error(), "1m0s"), `"orders": `)
						text = strings.TrimSuffix(text, unanswered) // an attempt may be under way when the wait ends
						if isLocked := strings.HasPrefix(call.says, locked); text != call.says || errors.Is(err, rlock.ErrLocked) != isLocked ||
							strings.Contains(text, "no lock") != errors.Is(err, rlock.ErrRefused) {
							r.Errorf("%s:\n%s, want\n%s", call.name, text, call.says)
						}
					}
				})
			})
		}
	}
}
