package testbed

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// Kind is a kind of lock, for tests that run with several.
type Kind struct {
	Name   string // its name in tables and in names of tests
	Mode   string // of a read-write lock: "read" or "write"
	Fair   bool   // waiters queue on the server, each with its own channel
	Strict bool   // even its owner can't take it twice
	Tokens bool   // a key that stays counts the grants

	New func(c *rlock.Client, name string) *rlock.Lock // makes one
}

// Plain is the default kind of tests.
var Plain = Kind{Name: "plain", New: (*rlock.Client).NewLock}

// Kinds are the other kinds that announce their releases.
var Kinds = []Kind{
	{Name: "fenced", New: (*rlock.Client).NewFencedLock, Tokens: true},
	{Name: "non-reentrant", New: (*rlock.Client).NewNonReentrantLock, Strict: true},
	{Name: "fair", New: (*rlock.Client).NewFairLock, Fair: true},
	{Name: "read", New: func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).ReadLock() }, Mode: "read"},
	{Name: "write", New: func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).WriteLock() }, Mode: "write"},
}

// Matches for a proxy's rules: the scripts of all kinds.
var (
	// Acquires match attempts to take a lock.
	Acquires = scripts(luasrc.LockScript, luasrc.FencedLockScript, luasrc.NonReentrantLockScript, luasrc.FairLockScript,
		luasrc.ReadLockScript, luasrc.WriteLockScript)
	// Repetitions match attempts that are sent again.
	Repetitions = scripts(luasrc.LockAgainScript, luasrc.FencedLockAgainScript, luasrc.NonReentrantLockAgainScript, luasrc.FairLockAgainScript,
		luasrc.ReadLockAgainScript, luasrc.WriteLockAgainScript)
	// Latched match unlocks that may have a latch.
	Latched = scripts(luasrc.UnlockScript, luasrc.SpinUnlockScript, luasrc.FairUnlockScript, luasrc.ReadUnlockScript,
		luasrc.WriteUnlockScript)
	// Own match unlocks that never have one, of owners for which only their client acts.
	Own = scripts(luasrc.UnlockToScript)
	// Unlocks match both.
	Unlocks = faultproxy.Any(Latched, Own)
	// Leaves match the scripts by which a waiter leaves the queue.
	Leaves = scripts(luasrc.FairLeaveScript)
	// Renewals match extensions of leases.
	Renewals = renewals(scripts(luasrc.RenewScript, luasrc.ReadRenewScript))
	// Forces match the scripts that free a lock whoever holds it.
	Forces = scripts(luasrc.ForceUnlockScript, luasrc.SpinForceUnlockScript, luasrc.FairForceScript, luasrc.ReadWriteForceScript)
)

func scripts(all ...*luasrc.Script) faultproxy.Match {
	return func(cmd []string) bool {
		return slices.ContainsFunc(all, func(s *luasrc.Script) bool { return faultproxy.Script(s.SHA1)(cmd) })
	}
}

// renewals excludes calls that only read: their lease is 0.
func renewals(of faultproxy.Match) faultproxy.Match {
	return func(cmd []string) bool {
		if !of(cmd) {
			return false
		}
		n, err := strconv.Atoi(cmd[2])
		return err != nil || len(cmd) <= 3+n || cmd[3+n] != "0"
	}
}

// Counts returns how many holds each owner has, from HGETALL of a lock. Read and write holds of a read-write lock are
// added up.
func Counts(reply any, err error) (map[string]int, error) {
	fields, err := redis.StringMap(reply, err)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for field, value := range fields {
		if field == "mode" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			return nil, err
		}
		counts[strings.TrimSuffix(field, ":write")] += n
	}
	return counts, nil
}

// Odd describes the inconsistencies in a lock's keys, and keys beyond those that its holds and waiting waiters of a
// fair lock need. A latch stays for a moment after its unlock.
func (k Kind) Odd(t testing.TB, c redis.Conn, name string, waiting int) (odd []string) {
	t.Helper()
	list := func(command string, args ...any) []string {
		all, err := redis.Strings(Do(t, c, command, args...), nil)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	wanted := map[string]bool{name: true}
	if k.Tokens {
		wanted["redisson_lock_token:{"+name+"}"] = true
	}
	fields, err := redis.StringMap(Do(t, c, "HGETALL", name), nil)
	if err != nil {
		t.Fatal(err)
	}
	for field, value := range fields {
		n, _ := strconv.Atoi(value)
		switch {
		case field == "mode":
		case n < 1:
			odd = append(odd, field+" has "+value)
		case k.Mode != "" && !strings.HasSuffix(field, ":write"):
			for ; n > 0; n-- {
				hold := "{" + name + "}:" + field + ":rwlock_timeout:" + strconv.Itoa(n)
				wanted[hold] = true
				if ttl := Do(t, c, "PTTL", hold).(int64); ttl < 1 {
					odd = append(odd, hold+" has a TTL of "+strconv.FormatInt(ttl, 10))
				}
			}
		}
	}
	if len(fields) > 0 && Do(t, c, "PTTL", name).(int64) < 1 {
		odd = append(odd, "it has no TTL")
	}
	if k.Fair {
		queue, times := "redisson_lock_queue:{"+name+"}", "redisson_lock_timeout:{"+name+"}"
		wanted[queue], wanted[times] = waiting > 0, waiting > 0
		places, scores := list("LRANGE", queue, 0, -1), list("ZRANGE", times, 0, -1)
		slices.Sort(places)
		slices.Sort(scores)
		if len(places) != waiting || !slices.Equal(places, scores) {
			odd = append(odd, "the queue has "+strings.Join(places, " ")+", the times have "+strings.Join(scores, " "))
		}
	}
	for _, key := range list("KEYS", "*{"+name+"}*") {
		if !wanted[key] {
			odd = append(odd, key+" is left")
		}
	}
	return odd
}
