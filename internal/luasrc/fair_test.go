package luasrc

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

func TestFairLockOfAFreeName(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	for _, once := range []int{0, 1} {
		r.gets("<nil>", fairLock(owner, 5000, once))
		r.holds(map[string]string{owner: "1"}, "")
		r.lives(key, lease)
		r.do("DEL", key)
	}
	r.told()
}

func TestFairLockIsReentered(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	r.hold(owner, 1)
	r.place(other, 60_000)
	for _, once := range []int{0, 1} {
		r.gets("<nil>", fairLock(owner, 5000, once))
		r.lives(key, lease)
	}
	if got := show(r.do("HGET", key, owner)); got != `"3"` {
		t.Errorf("%s holds", got)
	}
	r.keeps(other, 60_000)
	r.told()
}

// The recorded example: a holds for 20 s; b waits 15 s, c 0.9 s, d 15 s; c gives up; b acquires.
func TestFairQueueReckonsWithEachWait(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	r.hold("a", 1)
	r.taken(20_000, fairLock("b", 15_000, 0))
	r.keeps("b", 35_000)
	r.taken(35_000, fairLock("c", 900, 0))
	r.taken(35_000, fairLock("d", 15_000, 0))
	r.queued("b", "c", "d")
	r.keeps("b", 35_000, "c", 35_900, "d", 50_900)
	// An owner with a place is refused and keeps it.
	r.taken(20_000, fairLock("b", 15_000, 0))
	r.taken(35_000, fairLock("d", 15_000, 0))
	r.queued("b", "c", "d")
	r.gets("<nil>", fairLeave("c", 900))
	r.queued("b", "d")
	r.keeps("b", 35_000, "d", 50_000)
	r.told()
	r.gets("int 1", fairUnlock("a"))
	r.told("b")
	r.taken(35_000, fairLock("d", 15_000, 0))
	r.told("b")
	r.gets("<nil>", fairLock("b", 15_000, 0))
	r.queued("d")
	r.keeps("d", 35_000)
	r.do("DEL", latch)
	r.gets("int 1", fairUnlock("b"))
	r.told("d")
	r.gets("<nil>", fairLock("d", 15_000, 0))
	r.do("DEL", latch)
	r.gets("int 1", fairUnlock("d"))
	r.only(latch)
	r.told()
}

func TestOneAttemptTakesNoPlace(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	r.hold("a", 1)
	r.taken(20_000, fairLock(owner, 5000, 1))
	r.only(key)
	r.place(other, 60_000)
	r.gets("int -1", fairLock(owner, 5000, 1))
	r.queued(other)
	r.do("DEL", key)
	r.gets("int -1", fairLock(owner, 5000, 1)) // it is another owner's turn
	r.told(other)
	r.gets("<nil>", fairLock(other, 60_000, 1))
	r.only(key)
}

// The next few owners behind the head get the end of its place as their pause; those further back do not.
func TestWhoStandsBehindOthersIsToldWhenTheFirstPlaceEnds(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	for i := range 12 {
		r.place(fmt.Sprint(i), 60_000+int64(i)*10_000)
	}
	r.taken(60_000, fairLock("1", 60_000, 0))
	r.taken(60_000, fairLock("10", 60_000, 0))
	r.gets("int -1", fairLock("11", 60_000, 0))
	r.gets("int -1", fairLock("stranger", 60_000, 1))
}

// If an account may not use LSET to mark places, leaving still works.
func TestLeavingWithoutLSet(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	r.do("ACL", "SETUSER", "default", "-lset")
	for _, o := range []string{"a", "b", "c", "d", "e"} {
		r.place(o, 60_000)
	}
	leave := []string{"d", "a", "b"}
	r.gets("<nil>", FairLeave(key, fairQueue, fairTimes, channel, Publish, len(leave), func(i int) (Arg, Arg) { return leave[i], 10_000 }))
	r.queued("c", "e")
	r.keeps("c", 40_000, "e", 30_000)
	r.told("c")
}

// Expired places are dropped only at the head.
func TestPlacesWhoseTimeIsOverAreDropped(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]Call{"lock": fairLock(owner, 5000, 1), "unlock": fairUnlock("a"), "force": fairForce()} {
		r := newFairRig(t)
		r.hold("a", 1)
		r.place("gone", -1)
		r.place("gone too", 0)
		r.place("b", 60_000)
		r.place("gone later", -1)
		r.ask(call)
		r.queued("b", "gone later")
		r.keeps("b", 60_000, "gone later", -1)
		if name == "lock" {
			r.told()
		} else {
			r.told("b")
		}
	}
}

func TestHeadWithoutATimeIsLeftWhereItIs(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	r.do("RPUSH", fairQueue, other)
	r.gets("int -1", fairLock(owner, 5000, 1))
	r.told(other)
	// Behind a place without a time the PTTL counts, which is -2 if there is no lock.
	r.gets("int -1", fairLock(owner, 60_000, 0))
	r.queued(other, owner)
	r.keeps(owner, 60_000)
	r.told(other)
	r.gets("<nil>", fairLock(other, 5000, 0))
	r.keeps(owner, 55_000)
}

// Members of the times without a place in the queue lose time at each acquire, and block no owner.
func TestTimesWithoutAPlaceBlockNobody(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	r.do("ZADD", fairTimes, r.now()+60_000, other)
	r.gets("<nil>", fairLock(owner, 10_000, 0))
	r.keeps(other, 50_000)
	r.told()
}

func TestFairLockWithoutATTL(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	r.do("HSET", key, "a", 1)
	for range 2 {
		r.gets("int -1", fairLock(owner, 5000, 0))
	}
	r.keeps(owner, 5000)
}

func TestFairUnlock(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	r.hold(owner, 2)
	r.place(other, 60_000)
	r.gets("int 0", fairUnlock(owner))
	r.lives(key, lease)
	r.lives(latch, latchMs)
	r.gets("int 0", fairUnlock(owner)) // the latch answers
	r.told()
	r.do("DEL", latch)
	r.gets("int 1", fairUnlock(owner))
	r.gets("int 1", fairUnlock(owner))
	r.told(other)
	r.only(fairQueue, fairTimes, latch)
	r.lives(latch, latchMs)
	r.do("SET", latch, "odd")
	r.gets(`"odd"`, fairUnlock(owner))
}

// Without a latch it never takes what its client needs. If it is exact, it takes all else.
func TestFairUnlockTo(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	unlock := func(least int, exact bool) Call {
		return FairUnlock(nil, key, fairQueue, fairTimes, nil, channel, owner, lease, latchMs, Left{least, exact}, Publish)
	}
	keep := func(least int, exact bool) Call {
		return FairKeep(nil, key, fairQueue, fairTimes, nil, channel, owner, lease, latchMs, "keeper", 7_000_000, Left{least, exact}, Publish)
	}
	r.place(other, 600_000)
	r.hold(owner, 3)
	r.gets("int 0", unlock(1, false))
	r.gets("int 0", keep(1, false))
	r.gets("int 0", unlock(1, false))
	r.lives(key, lease)
	r.told()
	r.gets("int 1", unlock(0, false))
	r.told(other)
	r.only(fairQueue, fairTimes)
	r.hold(owner, 3)
	r.gets("int 0", unlock(2, true))
	r.gets("int 1", unlock(0, true))
	r.told(other)
	r.hold(owner, 3)
	for range 2 {
		r.gets("int 1", keep(0, true))
	}
	r.told(other)
	r.lives(key, 7_000_000)
	r.only(key, fairQueue, fairTimes)
}

func TestFairUnlockOfWhatIsNotHeld(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	r.gets("<nil>", fairUnlock(owner))
	r.told()
	r.only()
	r.place(other, 60_000)
	r.gets("<nil>", fairUnlock(owner)) // the lock is free, and the head may have missed that
	r.told(other)
	r.hold("a", 1)
	r.gets("<nil>", fairUnlock(owner))
	r.told()
	r.only(key, fairQueue, fairTimes)
}

func TestHeadThatLeavesAFreeLockHandsItOn(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	r.gets("<nil>", fairLeave(owner, 5000))
	r.only()
	r.place("a", 10_000)
	r.place("b", 20_000)
	r.place("c", 30_000)
	r.gets("<nil>", fairLeave("b", 10_000))
	r.told()
	r.keeps("a", 10_000, "c", 20_000)
	r.gets("<nil>", fairLeave("stranger", 10_000))
	r.keeps("a", 10_000, "c", 20_000)
	r.gets("<nil>", fairLeave("a", 10_000))
	r.told("c")
	r.keeps("c", 10_000)
	r.gets("<nil>", fairLeave("c", 10_000))
	r.told()
	r.only()
}

// Owners that leave together leave the others the same times as if each had left alone with Redisson's script.
func TestManyLeaveAsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 0))
		r.do("FLUSHALL")
		type leaver struct {
			owner string
			wait  int
		}
		var leave []leaver
		left := map[string]string{}
		stay := []string{}
		till, less := int64(9_000_000_000_000), 0
		for i := range random.IntN(350) {
			w := leaver{fmt.Sprint("owner ", i), 1 + random.IntN(10_000)}
			till += int64(w.wait)
			r.do("RPUSH", fairQueue, w.owner)
			r.do("ZADD", fairTimes, till, w.owner)
			if random.IntN(1+int(seed)%4) == 0 {
				leave = append(leave, w)
				less += w.wait
			} else {
				stay = append(stay, w.owner)
				left[w.owner] = strconv.FormatInt(till-int64(less), 10)
			}
		}
		leave = append(leave, leaver{"stranger", 1_000_000})
		random.Shuffle(len(leave), func(i, j int) { leave[i], leave[j] = leave[j], leave[i] })
		r.gets("<nil>", FairLeave(key, fairQueue, fairTimes, channel, Publish, len(leave), func(i int) (Arg, Arg) { return leave[i].owner, leave[i].wait }))
		r.queued(stay...)
		if times, err := redis.StringMap(r.conn.Do("ZRANGE", fairTimes, 0, -1, "WITHSCORES")); err != nil || !maps.Equal(times, left) {
			t.Errorf("the times are %v, %v; want %v", times, err, left)
		}
		if t.Failed() {
			t.Fatal("seed", seed)
		}
	}
}

func TestFairForce(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	r.gets("int 0", fairForce())
	r.place(other, 60_000)
	r.gets("int 0", fairForce())
	r.told()
	r.hold("a", 3)
	r.gets("int 1", fairForce())
	r.told(other)
	r.only(fairQueue, fairTimes)
}

func TestFairScriptsLeaveAKeyOfAnotherTypeAlone(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	r.do("SET", key, "text")
	for _, c := range []Call{fairLock(owner, 5000, 0), fairLock(owner, 5000, 1), fairUnlock(owner)} {
		if reply, err := r.conn.Do("EVALSHA", c.Args...); err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
			t.Errorf("%s: %v, %v", c.Script.Name, reply, err)
		}
	}
	r.only(key)
	// With a queue of another type no acquire succeeds, and nothing changes.
	for _, odd := range []string{fairQueue, fairTimes} {
		r.do("FLUSHALL")
		r.do("SET", odd, "text")
		for _, c := range []Call{fairLock(owner, 5000, 0), fairLock(owner, 5000, 1)} {
			if reply, err := r.conn.Do("EVALSHA", c.Args...); err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
				t.Errorf("%s: %v, %v", c.Script.Name, reply, err)
			}
		}
		r.only(odd)
		// A release that can't tell who is next gives up nothing.
		keep := FairKeep(nil, key, fairQueue, fairTimes, latch, channel, owner, 5000, latchMs, "keeper", 7000, Left{}, Publish)
		for _, c := range []Call{fairUnlock(owner), keep} {
			r.do("FLUSHALL")
			r.do("HSET", key, owner, 1)
			r.do("RPUSH", fairQueue, other)
			r.do("SET", odd, "text")
			reply, err := r.conn.Do("EVAL", append([]any{c.Script.Source}, c.Args[1:]...)...)
			if err == nil || !strings.Contains(err.Error(), "WRONGTYPE") || r.do("HEXISTS", key, owner) != int64(1) {
				t.Errorf("%s beside a text in %s: %v, %v", c.Script.Name, odd, reply, err)
			}
		}
	}
}

func TestFairScriptsAnnounceAsTheyAreTold(t *testing.T) {
	t.Parallel()
	r := newFairRig(t)
	if err := r.heard.Conn.Send("SSUBSCRIBE", channel+":"+other); err != nil || r.heard.Conn.Flush() != nil {
		t.Fatal(err)
	}
	r.heard.Conn.Receive()
	r.place(other, 600_000)
	for _, c := range []struct {
		name string
		call Call
	}{
		{"lock", FairLock(nil, key, fairQueue, fairTimes, channel, owner, lease, 5000, 1, Both)},
		{"unlock", FairUnlock(nil, key, fairQueue, fairTimes, latch, channel, owner, lease, latchMs, Left{}, Both)},
		{"force", FairForce(key, fairQueue, fairTimes, channel, Both)},
		{"leave", FairLeave(key, fairQueue, fairTimes, channel, Both, 1, func(int) (Arg, Arg) { return "first", 5000 })},
	} {
		r.do("DEL", key, latch)
		switch c.name {
		case "force":
			r.hold("a", 1)
		case "leave":
			r.do("LPUSH", fairQueue, "first")
		}
		r.ask(c.call)
		got := map[string]bool{}
		for range 2 {
			m, err := redis.Strings(r.heard.Conn.(redis.ConnWithTimeout).ReceiveWithTimeout(time.Second))
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			got[m[0]] = true
		}
		if fmt.Sprint(got) != "map[pmessage:true smessage:true]" {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
