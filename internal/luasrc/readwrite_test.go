package luasrc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/codec"
)

func rwHolds() string { return codec.ReadHolds(key) }

func readLock(of string, lease int) Call {
	return ReadLock(nil, key, rwChannel, rwHolds(), rwOwners[of], lease*1000)
}

func writeLock(of string, lease int) Call { return WriteLock(nil, key, rwOwners[of], lease*1000) }

func readUnlock(of string, lease int) Call {
	return ReadUnlock(nil, key, rwChannel, rwHolds(), latch, rwOwners[of], lease*1000, latchMs, Left{}, Publish)
}

func writeUnlock(of string, lease int) Call {
	return WriteUnlock(nil, key, rwChannel, rwHolds(), latch, rwOwners[of], lease*1000, latchMs, Left{}, Publish)
}

func readUnlockTo(of string, lease, least int, exact bool) Call {
	return ReadUnlock(nil, key, rwChannel, rwHolds(), nil, rwOwners[of], lease*1000, latchMs, Left{least, exact}, Publish)
}

func writeUnlockTo(of string, lease, least int, exact bool) Call {
	return WriteUnlock(nil, key, rwChannel, rwHolds(), nil, rwOwners[of], lease*1000, latchMs, Left{least, exact}, Publish)
}

func readRenew(of string, lease int) Call { return readRenewKnown(of, lease, rwHold(of, 1)) }

func readRenewKnown(of string, lease int, holds ...string) Call {
	return ReadRenew(nil, lease*1000, 1, func(int) (Arg, []string, Arg) { return key, holds, rwOwners[of] })
}

func force(mode, message string) Call {
	return ReadWriteForce(key, rwChannel, rwHolds(), mode, message, Publish)
}

func TestReadLock(t *testing.T) {
	rwRows(t, []rwRow{
		{readLock("a", 10), "", "<nil>", "read 10 | a 10", ""},
		{readLock("a", 10), "read 30 | b 30", "<nil>", "read 30 | a 10 | b 30", ""},
		{readLock("a", 10), "read 5 | b 5", "<nil>", "read 10 | a 10 | b 5", ""},
		{readLock("a", 10), "read 30 | a 30", "<nil>", "read 30 | a 30,10", ""},
		{readLock("a", 40), "read 30 | a 30,0", "<nil>", "read 40 | a 30,0,40", ""},
		{readLock("a", 10), "read - | b 30", "<nil>", "read 10 | a 10 | b 30", ""},
		{readLock("a", 10), "write 30 | aW 1", "<nil>", "write 30 | a 10 | aW 1", ""},
		{readLock("a", 10), "write 5 | aW 2 | a 5", "<nil>", "write 10 | a 5,10 | aW 2", ""},
		{readLock("a", 10), "write 30 | bW 1", "30 s", unchanged, ""},
		{readLock("a", 10), "write 30 | bW 1 | b 30", "30 s", unchanged, ""},
		{readLock("a", 10), "write - | bW 1", "int -1", unchanged, ""},
		{readLock("a", 10), "odd 30 | b 30", "30 s", unchanged, ""},
	})
}

func TestWriteLock(t *testing.T) {
	rwRows(t, []rwRow{
		{writeLock("a", 10), "", "<nil>", "write 10 | aW 1", ""},
		{writeLock("a", 10), "write 30 | aW 1", "<nil>", "write 30 | aW 2", ""}, // the longer lease, not the sum
		{writeLock("a", 10), "write 5 | a 5 | aW 1", "<nil>", "write 10 | a 5 | aW 2", ""},
		{writeLock("a", 10), "write - | aW 1", "<nil>", "write 10 | aW 2", ""},
		{writeLock("a", 10), "write 30 | bW 1", "30 s", unchanged, ""},
		{writeLock("a", 10), "read 30 | b 30", "30 s", unchanged, ""},
		{writeLock("a", 10), "read 30 | a 30", "30 s", unchanged, ""}, // nor while it reads itself
		{writeLock("a", 10), "odd 30 | aW 1", "30 s", unchanged, ""},
	})
}

func TestReadUnlock(t *testing.T) {
	rwRows(t, []rwRow{
		{readUnlock("a", 20), "", "<nil>", "", "0"},
		{readUnlock("a", 20), "read 30 | b 30", "<nil>", unchanged, ""},
		{readUnlock("a", 20), "write 30 | aW 1", "<nil>", unchanged, ""},
		{readUnlock("a", 20), "read 30 | a 30", "int 1", "", "0"},
		{readUnlock("c", 20), "read 30 | c 30", "int 1", "", "0"},
		// The owner's remaining holds get the new lease, and the lock gets the longest.
		{readUnlock("a", 20), "read 30 | a 10,30", "int 0", "read 20 | a 20", ""},
		{readUnlock("a", 20), "read 30 | a 25,10,30", "int 0", "read 25 | a 25,20", ""},
		{readUnlock("a", 20), "read 9 | a 0,9", "int 0", "read 20 | a 20", ""},
		{readUnlock("a", 20), "read 30 | a 5,10 | b 30", "int 0", "read 30 | a 20 | b 30", ""},
		{readUnlock("a", 20), "read 15 | a 5,5 | b 15", "int 0", "read 20 | a 20 | b 15", ""},
		// No lease is needed: what is left has ended, or is another client's.
		{readUnlock("a", 0), "read 9 | a 0,9", "int 1", "", "0"},
		{readUnlock("a", 0), "read 9 | a 0,9 | b 5", "int 0", "read 5 | a 0 | b 5", ""},
		{readUnlock("a", 0), "read 30 | a 10,30", "int 0", "read 10 | a 10", ""},
		// The lock gets the longest lease of the others.
		{readUnlock("a", 20), "read 30 | a 30 | b 10", "int 1", "read 10 | b 10", ""},
		{readUnlock("a", 20), "read 30 | a 30 | b 10 | c 5,20,7", "int 1", "read 20 | b 10 | c 5,20,7", ""},
		{readUnlock("a", 20), "read 30 | a 10 | b 30", "int 1", "read 30 | b 30", ""},
		{readUnlock("a", 20), "read 30 | a 10 | b 20", "int 1", "read 30 | b 20", ""},
		{readUnlock("a", 20), "read - | a 30 | b 20", "int 1", "read 20 | b 20", ""},
		// A renewal that was longer on its way than the last one had lengthened the lock's.
		{readUnlock("a", 0), "read 30 | a 29.4 | b 0", "int 1", "", "0"},
		{readUnlock("a", 0), "read 30 | a 29.4 | b 10", "int 1", "read 10 | b 10", ""},
		{readUnlock("a", 0), "read 30 | a 29.4 | b 29.8", "int 1", "read 30 | b 30", ""},
		{readUnlock("a", 0), "read 30 | a 30 | b 29.4 | c 30", "int 1", "read 30 | b 30 | c 30", ""},
		// Nobody else holds, and what there was would have ended within a second.
		{readUnlock("a", 0), "read 0.9 | a 0.9 | b 0", "int 1", "", "0"},
		{readUnlock("a", 0), "read 0.9 | a 0 | b 0", "int 1", "", "0"},
		// Another owner's renewal had shortened the lock's lease.
		{readUnlock("a", 20), "read 5 | a 30 | b 20", "int 1", "read 20 | b 20", ""},
		// These holds have ended without a release.
		{readUnlock("a", 20), "read 30 | a 30 | b 0", "int 1", "", "0"},
		{readUnlock("a", 20), "read 30 | a 0 | b 0", "int 1", "", "0"},
		{readUnlock("a", 20), "read 30 | a 0 | b 20", "int 1", "read 30 | b 20", ""},
		// A writer keeps its own lease.
		{readUnlock("a", 50), "write 60 | a 4 | aW 1", "int 0", "write 60 | aW 1", ""},
		{readUnlock("a", 50), "write 60 | a 60 | aW 1", "int 0", "write 60 | aW 1", ""},
		{readUnlock("a", 50), "write 60 | a 4,8 | aW 1", "int 0", "write 60 | a 50 | aW 1", ""},
		{readUnlock("a", 50), "write 5 | a 60 | aW 1", "int 0", "write 50 | aW 1", ""},
		{readUnlock("b", 50), "write 60 | aW 1 | b 4", "int 1", "write 60 | aW 1", ""},
		{readUnlock("a", 0), "write - | a 4 | aW 1", "int 0", "write - | aW 1", ""},
		{readUnlock("a", 50), "write - | a 4 | aW 1", "int 0", "write - | aW 1", ""},
		// This number is no owner's holds.
		{readUnlock("a", 20), "read 30 | a 30 | x=99999999999", "int 1", "", "0"},
	})
}

func TestWriteUnlock(t *testing.T) {
	rwRows(t, []rwRow{
		{writeUnlock("a", 20), "", "<nil>", "", "1"},
		{writeUnlock("a", 20), "read 30 | a 30", "<nil>", unchanged, ""},
		{writeUnlock("a", 20), "write 30 | bW 1", "<nil>", unchanged, ""},
		{writeUnlock("a", 20), "write 30 | aW 1", "int 1", "", "1"},
		{writeUnlock("a", 20), "write 30 | aW 2", "int 0", "write 20 | aW 1", ""},
		{writeUnlock("a", 20), "write 30 | a 5 | aW 2", "int 0", "write 20 | a 5 | aW 1", ""},
		// A text is no number of holds.
		{writeUnlock("c", 20), "write 30 | cW 1 | 550e8400-e29b-41d4-a716-446655440000:-7=text", "int 1", "read 30", "1"},
		// The read holds stay, with the lease that they need.
		{writeUnlock("a", 20), "write 30 | a 5,25 | aW 1", "int 0", "read 30 | a 20,25", "1"},
		{writeUnlock("a", 20), "write 10 | a 0 | aW 1", "int 0", "read 20 | a 20", "1"},
		{writeUnlock("a", 20), "write 10 | aW 1 | b 5", "int 1", "read 10 | b 5", "1"},
		// No lease is needed: what is left has ended, or is another client's.
		{writeUnlock("a", 0), "write 30 | aW 1", "int 1", "", "1"},
		{writeUnlock("a", 0), "write 30 | aW 2", "int 0", "write 30 | aW 1", ""},
		{writeUnlock("a", 0), "write 30 | a 0,0 | aW 1", "int 1", "", "1"},
		{writeUnlock("a", 0), "write 30 | a 0,5 | aW 1", "int 0", "read 5 | a 0,5", "1"},
		{writeUnlock("a", 0), "write 5 | a 9 | aW 1", "int 0", "read 9 | a 9", "1"},
		{writeUnlock("a", 0), "write 10 | a 0 | aW 1 | b 5", "int 0", "read 10 | a 0 | b 5", "1"},
	})
}

// Without a latch an unlock never takes what its client needs. If it is exact, it takes all else.
func TestUnlockToOfAReadWriteLock(t *testing.T) {
	rwRows(t, []rwRow{
		{readUnlockTo("a", 20, 0, false), "", "<nil>", "", "0"},
		{readUnlockTo("a", 20, 0, false), "write 30 | aW 1", "<nil>", unchanged, ""},
		{readUnlockTo("a", 20, 0, false), "read 30 | a 30", "int 1", "", "0"},
		{readUnlockTo("a", 20, 1, false), "read 30 | a 10,30", "int 0", "read 20 | a 20", ""},
		{readUnlockTo("a", 20, 2, false), "read 20 | a 20,20", "int 0", "read 20 | a 20,20", ""},
		{readUnlockTo("a", 20, 2, false), "read 20 | a 20,20,20", "int 0", "read 20 | a 20,20", ""},
		{readUnlockTo("a", 20, 1, true), "read 30 | a 10,20,30", "int 0", "read 20 | a 20", ""},
		{readUnlockTo("a", 0, 0, true), "read 30 | a 10,20,30", "int 1", "", "0"},
		{readUnlockTo("a", 0, 0, true), "read 30 | a 30,0 | b 10", "int 1", "read 10 | b 10", ""},
		{readUnlockTo("a", 50, 0, true), "write 60 | a 4,8 | aW 1", "int 0", "write 60 | aW 1", ""},
		// A failover lost a hold that the client needs.
		{readUnlockTo("a", 20, 2, true), "read 10 | a 10", "int 0", "read 20 | a 20,20", ""},
		{writeUnlockTo("a", 20, 0, false), "read 30 | a 30", "<nil>", unchanged, ""},
		{writeUnlockTo("a", 20, 0, false), "write 30 | aW 1", "int 1", "", "1"},
		{writeUnlockTo("a", 20, 1, false), "write 30 | aW 2", "int 0", "write 20 | aW 1", ""},
		{writeUnlockTo("a", 20, 2, false), "write 30 | aW 2", "int 0", "write 20 | aW 2", ""},
		{writeUnlockTo("a", 0, 0, true), "write 30 | aW 3", "int 1", "", "1"},
		{writeUnlockTo("a", 20, 1, true), "write 30 | aW 3", "int 0", "write 20 | aW 1", ""},
		{writeUnlockTo("a", 20, 0, true), "write 30 | a 5,25 | aW 2", "int 0", "read 30 | a 20,25", "1"},
	})
}

func TestReadRenew(t *testing.T) {
	rwRows(t, []rwRow{
		{readRenew("a", 30), "", "[0]", "", ""},
		{readRenew("a", 30), "read 10 | b 10", "[0]", unchanged, ""},
		{readRenew("a", 30), "read 10 | a 10 | b 10", "[1]", "read 30 | a 30 | b 10", ""},
		{readRenew("a", 30), "read 60 | a 10 | b 60", "[1]", "read 60 | a 30 | b 60", ""},
		{readRenew("a", 30), "read 10 | a 5,10,0", "[1]", "read 30 | a 30,30,0", ""}, // a missing key is not made again
		{readRenew("a", 30), "read 10 | a 0,10", "[1]", "read 30 | a 0,30", ""},
		{readRenew("a", 30), "write 10 | a 5 | aW 1", "[1]", "write 30 | a 30 | aW 1", ""},
		{readRenew("a", 30), "write 60 | a 5 | aW 1", "[1]", "write 60 | a 30 | aW 1", ""},
		// A writer has just released its read hold: no key is known, and the release comes next.
		{readRenewKnown("a", 30), "write 10 | a 5 | aW 1", "[1]", "write 30 | a 5 | aW 1", ""},
	})
}

func TestReadRenewSetsTheHoldsBeforeItRaisesTheLock(t *testing.T) {
	t.Parallel()
	r := rwRig(t)
	r.give("read 10 | a 10,0")
	name := rwOwners["a"]
	r.expect(readRenew("a", 30), "[1]", "hget "+key+" "+name, "pexpire "+rwHold("a", 1)+" 30000", "pexpire "+rwHold("a", 2)+" 30000",
		"pttl "+key, "pexpire "+key+" 30000", "hget "+key+" "+name)
	r.do("HSET", "two", "mode", "read", rwOwners["b"], 1)
	r.do("SET", "{two}:1", 1)
	both := ReadRenew(nil, 30_000, 3, func(i int) (k Arg, holds []string, o Arg) {
		return []string{key, "none", "two"}[i], [][]string{{rwHold("a", 1)}, nil, {"{two}:1"}}[i], rwOwners[[]string{"a", "a", "b"}[i]]
	})
	if got := show(r.do("EVALSHA", both.Args...)); got != "[1 0 1]" {
		t.Errorf("of three locks: %s", got)
	}
	if got := show(r.do("PTTL", "{two}:1")); got == "int -1" {
		t.Error("the third one's hold is not renewed")
	}
}

func TestReadWriteForce(t *testing.T) {
	rwRows(t, []rwRow{
		{force("read", "0"), "", "int 0", "", ""},
		{force("read", "0"), "read 30 | a 10,20 | b 30 | c 0,5", "int 1", "", "0"},
		{force("read", "0"), "write 30 | a 10 | aW 1", "int 0", unchanged, ""},
		{force("write", "1"), "read 30 | a 10", "int 0", unchanged, ""},
		{force("write", "1"), "write 30 | a 10,20 | aW 3", "int 1", "", "1"},
		{force("read", "0"), "read 30 | a 10 | x=99999999999", "int 1", "", "0"},
	})
}

func TestReadWriteInfo(t *testing.T) {
	t.Parallel()
	r := rwRig(t)
	for _, row := range []struct{ before, mode, owner, count string }{
		{"", "read", "", ""},
		{"read 30 | a 30,20", "read", "a", "2"},
		{"read 30 | a 30", "write", "", ""},
		{"read 30 | x=7", "read", "", ""},
		{"write 30 | aW 3", "write", "a", "3"},
		{"write 30 | aW 3", "read", "", ""},
		{"write 30 | a 30 | aW 3", "read", "a", "1"},
		{"write 30 | c 30 | cW 3", "write", "c", "3"},
	} {
		r.give(row.before)
		reply := r.do("EVALSHA", ReadWriteInfo(nil, key, row.mode).Args...)
		h, held, err := DecodeHolder(reply)
		if held != (row.owner != "") || err != nil || held && (h.Owner != rwOwners[row.owner] || fmt.Sprint(h.Count) != row.count || h.TTL < 29e9) {
			t.Errorf("%q, who can %s: %+v, %v, %v", row.before, row.mode, h, held, err)
		}
	}
}

// No call touches a plain lock's hash, or any other key.
func TestReadWriteLockLeavesOtherKeysAlone(t *testing.T) {
	t.Parallel()
	r := rwRig(t)
	calls := []Call{readLock("a", 9), writeLock("a", 9), readUnlock("a", 9), writeUnlock("a", 9), readRenew("a", 9), force("read", "0"), force("write", "1"),
		ReadWriteInfo(nil, key, "read")}
	for i, set := range [][]any{{"HSET", key, owner + ":write", 1}, {"HSET", key, "a field", "text"}, {"SET", key, "text"}} {
		for _, c := range calls {
			r.do("FLUSHALL")
			r.do(set[0].(string), set[1:]...)
			before := show(r.do("DUMP", key))
			reply, err := r.conn.Do("EVALSHA", c.Args...)
			if wrong := i == 2; wrong != (err != nil && strings.Contains(err.Error(), "WRONGTYPE")) || err != nil && !wrong {
				t.Errorf("%s of %v: %v, %v", c.Script.Name, set, reply, err)
			}
			if says := c.Script == ReadLockScript || c.Script == WriteLockScript || c.Script == ReadWriteInfoScript; i < 2 && says && show(reply) != strconv.Quote(NoReadWriteLock) {
				t.Errorf("%s of %v: %s", c.Script.Name, set, show(reply))
			}
			if n := r.do("DBSIZE"); n != int64(1) || show(r.do("DUMP", key)) != before || r.do("PTTL", key) != int64(-1) {
				t.Errorf("%s of %v changed it, or left a key", c.Script.Name, set)
			}
		}
	}
}

func TestReadWriteLockTellsBoth(t *testing.T) {
	t.Parallel()
	r := rwRig(t)
	for before, c := range map[string]Call{
		"read 30 | a 30":   ReadUnlock(nil, key, rwChannel, rwHolds(), latch, owner, 9, 9, Left{}, Both),
		"write 30 | aW 1":  WriteUnlock(nil, key, rwChannel, rwHolds(), latch, owner, 9, 9, Left{}, Both),
		"read 30 | b 30":   ReadWriteForce(key, rwChannel, rwHolds(), "read", "0", Both),
		"write 30 | bW 30": ReadWriteForce(key, rwChannel, rwHolds(), "write", "1", Both),
	} {
		r.give(before)
		r.monitor.Mark()
		r.do("EVALSHA", c.Args...)
		var told []string
		for _, l := range r.monitor.Mark() {
			if l.Lua() && (l.Is("PUBLISH") || l.Is("SPUBLISH")) {
				told = append(told, l.String())
			}
		}
		message := map[bool]string{true: "0", false: "1"}[strings.HasPrefix(before, "read")]
		if want := []string{"SPUBLISH " + rwChannel + " " + message, "PUBLISH " + rwChannel + " " + message}; !slices.Equal(told, want) {
			t.Errorf("%q: %v", before, told)
		}
	}
}

// If it is not this hold that keeps the lock, a release looks at no other one.
func TestReadUnlockBesideManyReadersLooksAtFew(t *testing.T) {
	t.Parallel()
	r := rwRig(t)
	many := func(own, others, lock, after int) int {
		r.do("FLUSHALL")
		r.do("HSET", key, "mode", "read", owner, 1)
		r.do("MULTI") // on a busy machine too, all leases begin at once
		for i := range 128 {
			name := fmt.Sprintf("%s%d", owner, i)
			r.do("HSET", key, name, 1)
			r.do("SET", fmt.Sprintf("%s:%s:rwlock_timeout:1", rwHolds(), name), 1, "EX", others)
		}
		r.do("EXPIRE", key, lock)
		r.do("SET", rwHold("a", 1), 1, "EX", own)
		r.do("EXEC")
		r.monitor.Mark()
		if got := show(r.do("EVALSHA", readUnlock("a", 20).Args...)); got != "int 1" {
			t.Errorf("reply %s", got)
		}
		calls := 0
		for _, l := range r.monitor.Mark() {
			if l.Lua() {
				calls++
			}
		}
		r.lives(key, int64(after)*1000)
		return calls
	}
	if n := many(20, 25, 30, 30); n > 12 {
		t.Errorf("%d calls, where another one keeps the lock", n)
	}
	if n := many(30, 30, 30, 30); n > 15 {
		t.Errorf("%d calls, where all keep the lock", n)
	}
	if n := many(30, 20, 30, 20); n < 128 {
		t.Errorf("%d calls can't find the longest of 128", n)
	}
}
