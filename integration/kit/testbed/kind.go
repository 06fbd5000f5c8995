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

// Kind is a sort of lock, for tests that are run with several.
type Kind struct {
	Name    string // what tables and the names of tests call it
	Mode    string // of a read-write lock
	Fair    bool   // who waits stands in a queue on the server, and has a channel of its own
	Strict  bool   // its own owner is refused
	Tokens  bool   // grants are counted in a key that stays
	Latched bool   // each unlock has a latch, that of an owner that is used once too

	New func(c *rlock.Client, name string) *rlock.Lock // makes one
}

// Plain is the lock that tests have if they say nothing.
var Plain = Kind{Name: "plain", New: (*rlock.Client).NewLock}

// Kinds are the others that announce their releases.
var Kinds = []Kind{
	{Name: "fenced", New: (*rlock.Client).NewFencedLock, Tokens: true},
	{Name: "non-reentrant", New: (*rlock.Client).NewNonReentrantLock, Strict: true},
	{Name: "fair", New: (*rlock.Client).NewFairLock, Fair: true, Latched: true},
	{Name: "read", New: func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).ReadLock() }, Mode: "read", Latched: true},
	{Name: "write", New: func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).WriteLock() }, Mode: "write", Latched: true},
}

// What a proxy is told to look for: the scripts of all kinds.
var (
	// Acquires ask for a lock.
	Acquires = scripts(luasrc.LockScript, luasrc.FencedLockScript, luasrc.NonReentrantLockScript, luasrc.FairLockScript,
		luasrc.ReadLockScript, luasrc.WriteLockScript)
	// Latched are unlocks with a latch.
	Latched = scripts(luasrc.UnlockScript, luasrc.SpinUnlockScript, luasrc.FairUnlockScript, luasrc.ReadUnlockScript,
		luasrc.WriteUnlockScript)
	// UsedOnce are those of owners that are used once.
	UsedOnce = scripts(luasrc.UnlockOnceScript)
	// Unlocks are both.
	Unlocks = faultproxy.Any(Latched, UsedOnce)
	// Leaves give up a place in a queue.
	Leaves = scripts(luasrc.FairLeaveScript)
	// Renewals extend leases.
	Renewals = renewals(scripts(luasrc.RenewScript, luasrc.ReadRenewScript))
	// Forces free a lock whoever holds it.
	Forces = scripts(luasrc.ForceUnlockScript, luasrc.SpinForceUnlockScript, luasrc.FairForceScript, luasrc.ReadWriteForceScript)
)

func scripts(all ...*luasrc.Script) faultproxy.Match {
	return func(cmd []string) bool {
		return slices.ContainsFunc(all, func(s *luasrc.Script) bool { return faultproxy.Script(s.SHA1)(cmd) })
	}
}

// renewals leaves out the calls that only look: their lease is 0.
func renewals(of faultproxy.Match) faultproxy.Match {
	return func(cmd []string) bool {
		if !of(cmd) {
			return false
		}
		n, err := strconv.Atoi(cmd[2])
		return err != nil || len(cmd) <= 3+n || cmd[3+n] != "0"
	}
}

// Counts are how many holds each owner has by what HGETALL shows of a lock; of a
// read-write lock those to read and those to write together.
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

// Odd is what the server keeps of a lock that does not go together, or more than its counts and so many waiters of a fair
// lock ask for. Latches go a moment after their unlock.
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
