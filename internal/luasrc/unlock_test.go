package luasrc

import (
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func unlock(publish string) Call {
	return Unlock(nil, key, channel, latch, owner, lease, latchMs, publish)
}

func TestUnlockOfTheLastHoldFreesAndTells(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("HSET", key, owner, 1)
	r.do("PEXPIRE", key, 1_000_000)
	r.expect(unlock(Publish), "int 1",
		"get "+latch, "hexists "+key+" "+owner, "hincrby "+key+" "+owner+" -1", "del "+key,
		"PUBLISH "+channel+" 0", "set "+latch+" 1 px 16000")
	r.holds(nil, "1")
	r.lives(latch, latchMs)
	r.published("0")
}

func TestUnlockOfOneHoldOfSeveral(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("HSET", key, owner, 3)
	r.do("PEXPIRE", key, 1_000_000)
	r.expect(unlock(Publish), "int 0",
		"get "+latch, "hexists "+key+" "+owner, "hincrby "+key+" "+owner+" -1", "pexpire "+key+" 30000",
		"set "+latch+" 0 px 16000")
	r.holds(map[string]string{owner: "2"}, "0")
	r.lives(key, lease)
	r.lives(latch, latchMs)
	r.published()
}

func TestUnlockRepeatedWithItsLatchChangesNothing(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 2} {
		r := newRig(t)
		r.do("HSET", key, owner, count)
		r.do("PEXPIRE", key, 1_000_000)
		first := show(r.do("EVALSHA", unlock(Publish).Args...))
		left := r.do("HGETALL", key)
		// Another owner, or the same one, may have acquired meanwhile.
		if count == 1 {
			r.published("0")
			r.do("HSET", key, owner, 7)
			left = r.do("HGETALL", key)
		}
		r.do("PEXPIRE", key, 500_000)
		r.do("PEXPIRE", latch, 9_000)
		for range 2 {
			r.expect(unlock(Publish), first, "get "+latch)
		}
		if got := r.do("HGETALL", key); show(got.([]any)[1]) != show(left.([]any)[1]) {
			t.Errorf("count %d: the repetition left %q, was %q", count, got, left)
		}
		r.lives(key, 500_000)
		r.lives(latch, 9_000)
		r.published()
	}
}

func TestUnlockAfterALatchThatJavaLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("HSET", key, owner, 1)
	for stored, want := range map[string]string{"0": "int 0", "1": "int 1", "odd": `"odd"`} {
		r.do("SET", latch, stored)
		r.expect(unlock(Publish), want, "get "+latch)
		r.holds(map[string]string{owner: "1"}, stored)
	}
	r.published()
}

func TestUnlockByAnotherOwnerKeepsNoLatch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	calls := []string{"get " + latch, "hexists " + key + " " + owner}
	r.expect(unlock(Publish), "<nil>", calls...)
	r.holds(nil, "")
	r.do("HSET", key, other, 1)
	r.do("PEXPIRE", key, 1_000_000)
	r.expect(unlock(Publish), "<nil>", calls...)
	r.holds(map[string]string{other: "1"}, "")
	r.lives(key, 1_000_000)
	r.published()
}

func TestUnlockOfACountThatWasNotPositiveFrees(t *testing.T) {
	t.Parallel()
	for _, count := range []int{0, -4} {
		r := newRig(t)
		r.do("HSET", key, owner, count)
		r.expect(unlock(Publish), "int 1",
			"get "+latch, "hexists "+key+" "+owner, "hincrby "+key+" "+owner+" -1", "del "+key,
			"PUBLISH "+channel+" 0", "set "+latch+" 1 px 16000")
		r.holds(nil, "1")
		r.published("0")
	}
}

func TestUnlockLeavesAKeyOfAnotherTypeAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("SET", key, "text")
	r.refused(unlock(Publish), "get "+latch, "hexists "+key+" "+owner)
	if v := show(r.do("GET", key)); v != `"text"` {
		t.Errorf("the key holds %s", v)
	}
	r.do("DEL", key)
	r.do("HSET", key, owner, "text")
	if reply, err := r.run(unlock(Publish), "get "+latch, "hexists "+key+" "+owner, "hincrby "+key+" "+owner+" -1"); err == nil {
		t.Errorf("a field that is no number: %v", reply)
	}
	r.holds(map[string]string{owner: "text"}, "")
	r.do("DEL", key)
	r.do("HSET", key, owner, 1)
	r.do("RPUSH", latch, "x")
	r.refused(unlock(Publish), "get "+latch)
	if v := show(r.do("HGET", key, owner)); v != `"1"` {
		t.Errorf("count %s after a latch of another type", v)
	}
	r.published()
}

// shardedSubscriber subscribes to channel with SSUBSCRIBE, which redigo's PubSubConn does not
// know.
func shardedSubscriber(t *testing.T, s *redistest.Server) redis.Conn {
	t.Helper()
	c := s.Dial(t)
	if err := c.Send("SSUBSCRIBE", channel); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	if reply, err := redis.Values(c.Receive()); err != nil || show(reply[0]) != `"ssubscribe"` {
		t.Fatalf("ssubscribe: %q, %v", reply, err)
	}
	return c
}

func heard(t *testing.T, sub redis.Conn, want string) {
	t.Helper()
	m, err := redis.Strings(sub.Receive())
	if err != nil || len(m) != 3 || m[0] != "smessage" || m[1] != channel || m[2] != want {
		t.Errorf("sharded message %q, %v; want %q", m, err, want)
	}
}

func TestShardedAnnouncement(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	sub := shardedSubscriber(t, r.server)
	r.do("HSET", key, owner, 1)
	r.expect(unlock(SPublish), "int 1",
		"get "+latch, "hexists "+key+" "+owner, "hincrby "+key+" "+owner+" -1", "del "+key,
		"SPUBLISH "+channel+" 0", "set "+latch+" 1 px 16000")
	r.holds(nil, "1")
	r.do("SPUBLISH", channel, "between")
	r.do("DEL", latch)
	r.do("HSET", key, other, 1)
	r.expect(ForceUnlock(key, channel, SPublish), "int 1", "hrandfield "+key, "del "+key, "SPUBLISH "+channel+" 0")
	r.holds(nil, "")
	for _, want := range []string{"0", "between", "0"} {
		heard(t, sub, want)
	}
	r.published() // the plain subscriber hears none of it
}
