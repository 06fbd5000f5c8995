package luasrc

import "testing"

func TestUnlockTellsBoth(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("HSET", key, owner, 1)
	for range 2 { // the second call repeats the first
		if got := show(r.do("EVALSHA", unlock(Both).Args...)); got != "int 1" {
			t.Errorf("reply %s", got)
		}
	}
	r.holds(nil, "1")
	r.lives(latch, latchMs)
	r.published("0")
	r.do("DEL", latch)
	r.do("HSET", key, owner, 1)
	r.expect(unlock(Both), "int 1",
		"get "+latch, "hexists "+key+" "+owner, "hincrby "+key+" "+owner+" -1", "del "+key,
		"SPUBLISH "+channel+" 0", "PUBLISH "+channel+" 0", "set "+latch+" 1 px 16000")
}

func TestForceUnlockTellsBoth(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.expect(ForceUnlock(key, channel, Both), "int 0", "hrandfield "+key, "del "+key)
	r.do("HSET", key, owner, 5, other, 1)
	r.expect(ForceUnlock(key, channel, Both), "int 1", "hrandfield "+key, "del "+key, "SPUBLISH "+channel+" 0", "PUBLISH "+channel+" 0")
	r.holds(nil, "")
	r.published("0")
}
