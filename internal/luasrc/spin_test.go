package luasrc

import "testing"

func spinUnlock() Call { return SpinUnlock(nil, key, latch, owner, lease, latchMs) }

func TestSpinUnlockOfTheLastHoldFreesAndTellsNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("HSET", key, owner, 1)
	r.do("PEXPIRE", key, 1_000_000)
	r.expect(spinUnlock(), "int 1",
		"get "+latch, "hexists "+key+" "+owner, "hincrby "+key+" "+owner+" -1", "del "+key, "set "+latch+" 1 px 16000")
	r.holds(nil, "1")
	r.lives(latch, latchMs)
	r.published()
}

func TestSpinUnlockOfOneHoldOfSeveral(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("HSET", key, owner, 3)
	r.do("PEXPIRE", key, 1_000_000)
	r.expect(spinUnlock(), "int 0",
		"get "+latch, "hexists "+key+" "+owner, "hincrby "+key+" "+owner+" -1", "pexpire "+key+" 30000",
		"set "+latch+" 0 px 16000")
	r.holds(map[string]string{owner: "2"}, "0")
	r.lives(key, lease)
	r.lives(latch, latchMs)
	r.published()
}

func TestSpinUnlockRepeatedWithItsLatchChangesNothing(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 2} {
		r := newRig(t)
		r.do("HSET", key, owner, count)
		r.do("PEXPIRE", key, 1_000_000)
		first := show(r.do("EVALSHA", spinUnlock().Args...))
		r.do("HSET", key, owner, 7) // another owner may have acquired meanwhile
		r.do("PEXPIRE", key, 500_000)
		for range 2 {
			r.expect(spinUnlock(), first, "get "+latch)
		}
		if got := show(r.do("HGET", key, owner)); got != `"7"` {
			t.Errorf("count %d: the repetition left %s", count, got)
		}
		r.lives(key, 500_000)
	}
}

func TestSpinUnlockByAnotherOwnerKeepsNoLatch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	calls := []string{"get " + latch, "hexists " + key + " " + owner}
	r.expect(spinUnlock(), "<nil>", calls...)
	r.holds(nil, "")
	r.do("HSET", key, other, 1)
	r.do("PEXPIRE", key, 1_000_000)
	r.expect(spinUnlock(), "<nil>", calls...)
	r.holds(map[string]string{other: "1"}, "")
	r.lives(key, 1_000_000)
}

func TestSpinUnlockLeavesAKeyOfAnotherTypeAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("SET", key, "text")
	r.refused(spinUnlock(), "get "+latch, "hexists "+key+" "+owner)
	if v := show(r.do("GET", key)); v != `"text"` {
		t.Errorf("the key holds %s", v)
	}
}

func TestSpinUnlockAfterALatchThatJavaLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("HSET", key, owner, 1)
	for stored, want := range map[string]string{"0": "int 0", "1": "int 1", "odd": `"odd"`} {
		r.do("SET", latch, stored)
		r.expect(spinUnlock(), want, "get "+latch)
		r.holds(map[string]string{owner: "1"}, stored)
	}
}

func TestSpinForceUnlockDeletesAndTellsNobody(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.expect(SpinForceUnlock(key), "int 0", "hrandfield "+key, "del "+key)
	r.do("HSET", key, other, 2)
	r.expect(SpinForceUnlock(key), "int 1", "hrandfield "+key, "del "+key)
	r.holds(nil, "")
	r.published()
}
