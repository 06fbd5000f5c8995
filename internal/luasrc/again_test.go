package luasrc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
)

// acquires are the acquires that can be sent again.
var acquires = map[string]func() Call{
	"plain":         func() Call { return Lock(nil, key, owner, lease) },
	"fenced":        fencedLock,
	"non-reentrant": nonReentrantLock,
	"fair":          func() Call { return fairLock(owner, 60_000, 0) },
	"fair, once":    func() Call { return fairLock(owner, 60_000, 1) },
	"read":          func() Call { return ReadLock(nil, key, rwChannel, codec.ReadHolds(key), owner, lease) },
	"write":         func() Call { return WriteLock(nil, key, owner, lease) },
}

// facts are the keys of a server, with what they have and for how many ms they live.
type facts map[string]fact

type fact struct {
	has   string
	lives int64
}

// facts reads all keys. Scores of a fair lock's queue are written as the 10 s that they are in.
func (r *rig) facts() facts {
	r.t.Helper()
	all := facts{}
	keys, err := redis.Strings(r.conn.Do("KEYS", "*"))
	if err != nil {
		r.t.Fatal(err)
	}
	now, err := redis.Int64s(r.conn.Do("TIME"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, key := range keys {
		var has []string
		switch kind := fmt.Sprint(r.do("TYPE", key)); kind {
		case "hash":
			of, _ := redis.StringMap(r.conn.Do("HGETALL", key))
			for field, value := range of {
				has = append(has, field+"="+value)
			}
			slices.Sort(has)
		case "list":
			has, _ = redis.Strings(r.conn.Do("LRANGE", key, 0, -1))
		case "zset":
			of, _ := redis.StringMap(r.conn.Do("ZRANGE", key, 0, -1, "WITHSCORES"))
			for member, score := range of {
				till, _ := strconv.ParseInt(score, 10, 64)
				has = append(has, fmt.Sprint(member, "=", (till-now[0]*1000+5000)/10_000))
			}
			slices.Sort(has)
		default:
			value, _ := redis.String(r.conn.Do("GET", key))
			has = append(has, value)
		}
		all[key] = fact{strings.Join(has, " "), r.do("PTTL", key).(int64)}
	}
	return all
}

// equal tells whether two servers have the same, but for the few seconds that passed.
func (f facts) equal(g facts) bool {
	for key, a := range f {
		b, there := g[key]
		if !there || a.has != b.has || max(a.lives-b.lives, b.lives-a.lives) > 5000 {
			return false
		}
	}
	return len(f) == len(g)
}

// shown is a reply, where a time is written as the 10 s that it is in, and a fenced lock's number as #.
func shown(reply any) string {
	switch v := reply.(type) {
	case int64:
		if v > 0 {
			return fmt.Sprint("some ", (v+5000)/10_000)
		}
	case []any:
		return "[#]"
	}
	return show(reply)
}

// before are what a server has before the acquire of an owner: for a plain, non-reentrant, fenced or fair lock, and for a
// read-write lock.
var before = []struct {
	name  string
	kinds string // that it is for
	holds int    // of the owner
	give  func(r *rig)
}{
	{"free", "", 0, func(r *rig) {}},
	{"own", "plain fenced non-reentrant fair", 1, func(r *rig) { r.hash(owner, 1) }},
	{"own twice", "plain fenced non-reentrant fair", 2, func(r *rig) { r.hash(owner, 2) }},
	{"another's", "plain fenced non-reentrant fair", 0, func(r *rig) { r.hash(other, 1) }},
	{"free, and the owner's turn", "fair", 0, func(r *rig) { r.waits(owner, 20_000, other, 80_000) }},
	{"free, and another's turn", "fair", 0, func(r *rig) { r.waits(other, 20_000) }},
	{"another's, and the owner waits", "fair", 0, func(r *rig) { r.hash(other, 1); r.waits(owner, 80_000) }},
	{"another's, and a third one waits", "fair", 0, func(r *rig) { r.hash(other, 1); r.waits("third", 80_000) }},
	{"own, and another waits", "fair", 1, func(r *rig) { r.hash(owner, 1); r.waits(other, 80_000) }},
	{"read by another", "read write", 0, func(r *rig) { r.give("read 60 | b 60") }},
	{"written by another", "read write", 0, func(r *rig) { r.give("write 60 | bW 1") }},
	{"read by it", "read", 2, func(r *rig) { r.give("read 20 | a 20,20") }},
	{"read by it, to be written", "write", 0, func(r *rig) { r.give("read 20 | a 20") }},
	{"read by it and another", "read", 1, func(r *rig) { r.give("read 60 | a 20 | b 60") }},
	{"written by it", "write", 2, func(r *rig) { r.give("write 60 | aW 2") }},
	{"written by it, to be read", "read", 0, func(r *rig) { r.give("write 60 | aW 1") }},
	{"written and read by it", "read", 1, func(r *rig) { r.give("write 60 | a 20 | aW 1") }},
	{"a hash without mode", "read write", 0, func(r *rig) { r.hash(owner, 1); r.hash(owner+":write", 1) }},
}

func (r *rig) hash(of string, holds int) {
	r.do("HSET", key, of, holds)
	r.do("PEXPIRE", key, 20_000)
}

// waits queues owners of a fair lock, each with the ms for which it keeps its place.
func (r *rig) waits(places ...any) {
	f := fairRig{rig: r}
	for i := 0; i < len(places); i += 2 {
		f.place(places[i].(string), int64(places[i+1].(int)))
	}
}

// An acquire that is sent again, once or twice, leaves and answers what it would have if it had run once, whether it ran before or
// not.
func TestAcquireSentAgainIsOneAcquire(t *testing.T) {
	t.Parallel()
	r := rwRig(t)
	rows := 0
	for name, acquire := range acquires {
		kind, _, _ := strings.Cut(name, ",")
		for _, b := range before {
			if b.kinds != "" && !slices.Contains(strings.Fields(b.kinds), kind) {
				continue
			}
			rows++
			start := func() {
				r.do("FLUSHALL")
				b.give(r)
			}
			again := Again(acquire(), b.holds+1)
			start()
			reply := shown(r.do("EVALSHA", acquire().Args...))
			left := r.facts()
			for _, ran := range []bool{true, false} {
				for times := 1; times <= 2; times++ {
					if start(); ran {
						r.do("EVALSHA", acquire().Args...)
					}
					for range times {
						got := r.do("EVALSHA", again.Args...)
						if shown(got) != reply {
							t.Errorf("%s, %s, ran %v, sent again %d times: reply %s, want %s", name, b.name, ran, times, shown(got), reply)
						}
						if token := "[" + r.facts()[tokens].has + "]"; reply == "[#]" && show(got) != token {
							t.Errorf("%s, %s, ran %v, sent again %d times: reply %s, want %s", name, b.name, ran, times, show(got), token)
						}
					}
					got := r.facts()
					if kind == "fenced" && reply == "[#]" { // each grant has a number
						grants := times
						if ran {
							grants++
						}
						if got[tokens].has != strconv.Itoa(grants) {
							t.Errorf("%s, %s, ran %v, sent again %d times: the number is %s", name, b.name, ran, times, got[tokens].has)
						}
						got[tokens] = left[tokens]
					}
					if !got.equal(left) {
						t.Errorf("%s, %s, ran %v, sent again %d times:\n\t%v\nwant\n\t%v", name, b.name, ran, times, got, left)
					}
				}
			}
		}
	}
	if rows != 44 {
		t.Errorf("%d rows", rows)
	}
}

// The server may count fewer holds than the client needs, or more: leases ended by themselves, or unlocks never ran. Then the owner
// gets as many as it needs.
func TestAcquireSentAgainMakesTheCountTrue(t *testing.T) {
	t.Parallel()
	r := rwRig(t)
	for name, acquire := range acquires {
		field := owner
		if name == "write" {
			field += ":write"
		}
		for _, had := range []int{1, 3, 5} {
			for _, needs := range []int{1, 2, 4} {
				r.do("FLUSHALL")
				switch {
				case name == "read":
					r.give("read 20 | a " + strings.TrimSuffix(strings.Repeat("20,", had), ","))
				case name == "write":
					r.give(fmt.Sprint("write 20 | aW ", had))
				default:
					r.hash(owner, had)
				}
				want := "<nil>"
				switch {
				case name == "fenced":
					want = "[#]"
				case name == "non-reentrant" && needs > 1:
					want = Reacquired
				}
				for range 2 {
					if got := shown(r.do("EVALSHA", Again(acquire(), needs).Args...)); got != want {
						t.Errorf("%s: of %d holds, with %d needed: %s", name, had, needs, got)
					}
				}
				if want == Reacquired {
					needs = had
				}
				if n := show(r.do("HGET", key, field)); n != strconv.Quote(strconv.Itoa(needs)) {
					t.Errorf("%s: of %d holds, with %d needed, are left %s", name, had, needs, n)
				}
				if want != Reacquired {
					r.lives(key, lease)
				}
				keys := 0
				if name == "read" {
					keys = needs
				}
				for i := 1; i <= keys; i++ {
					if ttl := r.do("PTTL", rwHold("a", i)).(int64); ttl < 15_000 || i == needs && ttl < 25_000 {
						t.Errorf("of %d holds, with %d needed, number %d lives for %d ms", had, needs, i, ttl)
					}
				}
				if found, _ := redis.Strings(r.conn.Do("KEYS", "*rwlock_timeout*")); len(found) != keys {
					t.Errorf("%s: of %d holds, with %d needed, there are the keys %q", name, had, needs, found)
				}
			}
		}
	}
}

// An owner that has lost its other holds gets none by a re-entry that is sent again.
func TestAcquireSentAgainTellsThatTheOthersAreGone(t *testing.T) {
	t.Parallel()
	r := rwRig(t)
	states := map[string][]string{"read": {"", "read 60 | b 60", "write 60 | aW 1"}}
	for name, acquire := range acquires {
		for _, state := range append([]string{""}, states[name]...) {
			r.give(state)
			was := r.facts()
			if got := show(r.do("EVALSHA", Again(acquire(), 2).Args...)); got != Gone {
				t.Errorf("%s, %q: %s", name, state, got)
			}
			if got := r.facts(); !got.equal(was) {
				t.Errorf("%s, %q: it changed %v to %v", name, state, was, got)
			}
		}
		// Another's lock is another's.
		if name == "read" || name == "write" {
			r.give("write 60 | bW 1")
		} else {
			r.do("FLUSHALL")
			r.hash(other, 1)
		}
		if got := show(r.do("EVALSHA", Again(acquire(), 2).Args...)); !strings.HasPrefix(got, "int ") {
			t.Errorf("%s of another: %s", name, got)
		}
	}
}

// A full server takes the repetition of what ran.
func TestAcquireSentAgainRunsOnAFullServer(t *testing.T) {
	t.Parallel()
	r := rwRig(t)
	for name, acquire := range acquires {
		if name == "fenced" { // a new number needs room
			continue
		}
		r.do("FLUSHALL")
		r.do("EVALSHA", acquire().Args...)
		r.do("CONFIG", "SET", "maxmemory", 1)
		if reply, err := r.conn.Do("EVALSHA", Again(acquire(), 1).Args...); reply != nil || err != nil {
			t.Errorf("%s: %v, %v", name, reply, err)
		}
		r.do("FLUSHALL") // a fair lock's acquire changes the queue first
		if reply, err := r.conn.Do("EVALSHA", Again(acquire(), 1).Args...); !strings.HasPrefix(name, "fair") && (err == nil || !strings.Contains(err.Error(), "OOM")) {
			t.Errorf("%s of a free lock: %v, %v", name, reply, err)
		}
		r.do("CONFIG", "SET", "maxmemory", 0)
	}
}

func TestAcquireSentAgainLeavesWhatIsNoLockAlone(t *testing.T) {
	t.Parallel()
	r := rwRig(t)
	for name, acquire := range acquires {
		r.do("FLUSHALL")
		r.do("SET", key, "text")
		if reply, err := r.conn.Do("EVALSHA", Again(acquire(), 1).Args...); err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
			t.Errorf("%s: %v, %v", name, reply, err)
		}
		if got := r.facts(); len(got) != 1 || got[key].has != "text" {
			t.Errorf("%s: it changed the key to %v", name, got)
		}
	}
}
