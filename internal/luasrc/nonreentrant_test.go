package luasrc

import "testing"

func nonReentrantLock() Call { return NonReentrantLock(nil, key, owner, lease) }

func TestNonReentrantLockOfAFreeName(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.expect(nonReentrantLock(), "<nil>", "exists "+key, "hincrby "+key+" "+owner+" 1", "pexpire "+key+" 30000")
	r.holds(map[string]string{owner: "1"}, "")
	r.lives(key, lease)
	r.published()
}

func TestNonReentrantLockIsRefusedToItsOwner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("HSET", key, owner, 1)
	r.do("PEXPIRE", key, 1_000_000)
	r.expect(nonReentrantLock(), Reacquired, "exists "+key, "hexists "+key+" "+owner)
	r.holds(map[string]string{owner: "1"}, "")
	r.lives(key, 1_000_000)
}

func TestNonReentrantLockOfAnothersNameTellsItsTTL(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("HSET", key, other, 3)
	r.expect(nonReentrantLock(), "int -1", "exists "+key, "hexists "+key+" "+owner, "pttl "+key)
	r.holds(map[string]string{other: "3"}, "")
}

func TestNonReentrantLockLeavesAKeyOfAnotherTypeAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("SET", key, "text")
	r.refused(nonReentrantLock(), "exists "+key, "hexists "+key+" "+owner)
	if v := show(r.do("GET", key)); v != `"text"` {
		t.Errorf("the key holds %s", v)
	}
}
