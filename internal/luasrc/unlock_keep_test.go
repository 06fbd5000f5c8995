package luasrc

import "testing"

// keeper is the owner that has the lock afterwards.
const keeper = "keeper:1"

// However often it is sent, it counts once and is announced once.
func TestUnlockKeepLeavesTheLockAndTellsOnce(t *testing.T) {
	t.Parallel()
	for name, latched := range map[string]bool{"latched": true, "once": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			unlocks := func(want string, holder string) {
				t.Helper()
				call := UnlockKeep(nil, key, nil, channel, owner, lease, latchMs, keeper, 7_000_000, Left{}, Publish)
				if latched {
					call = UnlockKeep(nil, key, latch, channel, owner, lease, latchMs, keeper, 7_000_000, Left{}, Publish)
				}
				if got := show(r.do("EVALSHA", call.Args...)); got != want {
					t.Errorf("answered %s, want %s", got, want)
				}
				if held := r.do("HEXISTS", key, holder); held != int64(1) {
					t.Errorf("%s does not hold it", holder)
				}
			}
			r.do("HSET", key, other, 1)
			unlocks("<nil>", other)
			r.do("DEL", key)
			r.do("HSET", key, owner, 2)
			unlocks("int 0", owner)
			r.lives(key, lease)
			r.do("DEL", latch)
			unlocks("int 1", keeper)
			r.published("0")
			r.lives(key, 7_000_000)
			unlocks("int 1", keeper)
			r.published()
			if n := r.do("HLEN", key); n != int64(1) {
				t.Errorf("%v fields", n)
			}
			if n := r.do("EXISTS", latch); (n == int64(1)) != latched {
				t.Errorf("%v latches", n)
			}
		})
	}
}
