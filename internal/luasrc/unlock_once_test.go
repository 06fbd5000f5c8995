package luasrc

import "testing"

func unlockOnce(publish string) Call {
	return UnlockOnce(nil, key, channel, owner, lease, publish)
}

func unlockAlone(publish string) Call {
	return UnlockAlone(nil, key, channel, owner, lease, publish)
}

// bothForms runs a test for each form of the unlock without a latch. plain is that form's
// spelling of PUBLISH.
func bothForms(t *testing.T, test func(t *testing.T, unlock func(publish string) Call, plain string)) {
	t.Run("two keys", func(t *testing.T) { test(t, unlockOnce, "publish") })
	t.Run("alone", func(t *testing.T) { test(t, unlockAlone, Publish) })
}

// freeing returns the calls of an unlock that frees the lock and announces it with publish.
func freeing(publish string) []string {
	return []string{"hexists " + key + " " + owner, "hincrby " + key + " " + owner + " -1", "del " + key, publish + " " + channel + " 0"}
}

func TestUnlockOnceFreesAndTells(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, unlock func(string) Call, plain string) {
		for _, count := range []int{1, 0, -4} {
			r := newRig(t)
			r.do("HSET", key, owner, count)
			r.do("PEXPIRE", key, 1_000_000)
			r.expect(unlock(Publish), "int 1", freeing(plain)...)
			r.holds(nil, "")
			r.published("0")
		}
	})
}

// A repetition finds nothing, even if another owner has acquired meanwhile.
func TestUnlockOnceRepeatedChangesNothing(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, unlock func(string) Call, plain string) {
		r := newRig(t)
		r.do("HSET", key, owner, 1)
		r.expect(unlock(Publish), "int 1", freeing(plain)...)
		r.published("0")
		r.expect(unlock(Publish), "<nil>", "hexists "+key+" "+owner)
		r.do("HSET", key, other, 1)
		r.do("PEXPIRE", key, 1_000_000)
		for range 2 {
			r.expect(unlock(Publish), "<nil>", "hexists "+key+" "+owner)
		}
		r.holds(map[string]string{other: "1"}, "")
		r.lives(key, 1_000_000)
		r.published()
	})
}

// Nobody else should have counted. If somebody has, the rest is returned and gets the lease.
func TestUnlockOnceOfACountAboveOne(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, unlock func(string) Call, _ string) {
		r := newRig(t)
		r.do("HSET", key, owner, 3)
		r.do("PEXPIRE", key, 1_000_000)
		r.expect(unlock(Publish), "int 0", "hexists "+key+" "+owner, "hincrby "+key+" "+owner+" -1", "pexpire "+key+" 30000")
		r.holds(map[string]string{owner: "2"}, "")
		r.lives(key, lease)
		r.published()
	})
}

func TestUnlockOnceLeavesAKeyOfAnotherTypeAlone(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, unlock func(string) Call, _ string) {
		r := newRig(t)
		r.do("SET", key, "text")
		r.refused(unlock(Publish), "hexists "+key+" "+owner)
		if v := show(r.do("GET", key)); v != `"text"` {
			t.Errorf("the key holds %s", v)
		}
		r.published()
	})
}

func TestUnlockOnceByAShardedAnnouncement(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, unlock func(string) Call, _ string) {
		r := newRig(t)
		sub := shardedSubscriber(t, r.server)
		r.do("HSET", key, owner, 1)
		r.expect(unlock(SPublish), "int 1", freeing("SPUBLISH")...)
		heard(t, sub, "0")
		r.published()
	})
}

func TestUnlockOnceByBothAnnouncements(t *testing.T) {
	t.Parallel()
	bothForms(t, func(t *testing.T, unlock func(string) Call, _ string) {
		r := newRig(t)
		sub := shardedSubscriber(t, r.server)
		r.do("HSET", key, owner, 1)
		r.expect(unlock(Both), "int 1", append(freeing(SPublish), Publish+" "+channel+" 0")...)
		heard(t, sub, "0")
		r.published("0")
	})
}
