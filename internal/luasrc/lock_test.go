package luasrc

import "testing"

func TestLockOfAFreeName(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.expect(Lock(nil, key, owner, lease), "<nil>",
		"exists "+key, "hincrby "+key+" "+owner+" 1", "pexpire "+key+" 30000")
	r.holds(map[string]string{owner: "1"}, "")
	r.lives(key, lease)
	r.published()
}

func TestLockAgainByItsOwnerCounts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("HSET", key, owner, 1)
	r.do("PEXPIRE", key, 1_000_000)
	r.expect(Lock(nil, key, owner, lease), "<nil>",
		"exists "+key, "hexists "+key+" "+owner, "hincrby "+key+" "+owner+" 1", "pexpire "+key+" 30000")
	r.holds(map[string]string{owner: "2"}, "")
	r.lives(key, lease)
	r.published()
}

func TestLockOfAnothersNameTellsItsTTL(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	calls := []string{"exists " + key, "hexists " + key + " " + owner, "pttl " + key}
	r.do("HSET", key, other, 3)
	r.expect(Lock(nil, key, owner, lease), "int -1", calls...)
	r.do("PEXPIRE", key, 1_000_000)
	reply, err := r.run(Lock(nil, key, owner, lease), calls...)
	if ttl, ok := reply.(int64); !ok || ttl > 1_000_000 || ttl < 990_000 || err != nil {
		t.Errorf("reply %v, %v", reply, err)
	}
	r.holds(map[string]string{other: "3"}, "")
	r.lives(key, 1_000_000)
	r.published()
}

func TestLockLeavesAKeyOfAnotherTypeAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("SET", key, "text", "PX", 1_000_000)
	r.refused(Lock(nil, key, owner, lease), "exists "+key, "hexists "+key+" "+owner)
	if v := show(r.do("GET", key)); v != `"text"` {
		t.Errorf("the key holds %s", v)
	}
	r.lives(key, 1_000_000)
}
