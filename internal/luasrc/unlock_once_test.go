package luasrc

import "testing"

func unlockOnce(publish string) Call {
	return UnlockOnce(nil, key, channel, owner, lease, publish)
}

// The calls of the unlock that frees, by the command that announces it.
func freeing(publish string) []string {
	return []string{"hexists " + key + " " + owner, "hincrby " + key + " " + owner + " -1", "del " + key, publish + " " + channel + " 0"}
}

func TestUnlockOnceFreesAndTells(t *testing.T) {
	for _, count := range []int{1, 0, -4} {
		r := newRig(t)
		r.do("HSET", key, owner, count)
		r.do("PEXPIRE", key, 1_000_000)
		r.expect(unlockOnce(Publish), "int 1", freeing("publish")...)
		r.holds(nil, "")
		r.published("0")
	}
}

// Sent again it finds nothing, whoever has come in between.
func TestUnlockOnceRepeatedChangesNothing(t *testing.T) {
	r := newRig(t)
	r.do("HSET", key, owner, 1)
	r.expect(unlockOnce(Publish), "int 1", freeing("publish")...)
	r.published("0")
	r.expect(unlockOnce(Publish), "<nil>", "hexists "+key+" "+owner)
	r.do("HSET", key, other, 1)
	r.do("PEXPIRE", key, 1_000_000)
	for range 2 {
		r.expect(unlockOnce(Publish), "<nil>", "hexists "+key+" "+owner)
	}
	r.holds(map[string]string{other: "1"}, "")
	r.lives(key, 1_000_000)
	r.published()
}

// Nobody else should have counted; what is left is told, and gets the lease.
func TestUnlockOnceOfACountAboveOne(t *testing.T) {
	r := newRig(t)
	r.do("HSET", key, owner, 3)
	r.do("PEXPIRE", key, 1_000_000)
	r.expect(unlockOnce(Publish), "int 0", "hexists "+key+" "+owner, "hincrby "+key+" "+owner+" -1", "pexpire "+key+" 30000")
	r.holds(map[string]string{owner: "2"}, "")
	r.lives(key, lease)
	r.published()
}

func TestUnlockOnceLeavesAKeyOfAnotherTypeAlone(t *testing.T) {
	r := newRig(t)
	r.do("SET", key, "text")
	r.refused(unlockOnce(Publish), "hexists "+key+" "+owner)
	if v := show(r.do("GET", key)); v != `"text"` {
		t.Errorf("the key holds %s", v)
	}
	r.published()
}

func TestUnlockOnceByAShardedAnnouncement(t *testing.T) {
	r := newRig(t)
	sub := shardedSubscriber(t, r.server)
	r.do("HSET", key, owner, 1)
	r.expect(unlockOnce(SPublish), "int 1", freeing("SPUBLISH")...)
	heard(t, sub, "0")
	r.published()
}

func TestUnlockOnceByBothAnnouncements(t *testing.T) {
	r := newRig(t)
	sub := shardedSubscriber(t, r.server)
	r.do("HSET", key, owner, 1)
	r.expect(unlockOnce(Both), "int 1", append(freeing(SPublish), Publish+" "+channel+" 0")...)
	heard(t, sub, "0")
	r.published("0")
}
