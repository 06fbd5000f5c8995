package luasrc

import (
	"fmt"
	"strconv"
	"testing"
)

func unlockTo(least int, exact bool, publish string) Call {
	return UnlockTo(nil, key, channel, owner, lease, Left{least, exact}, publish)
}

// freeing returns the calls of an unlock that frees the lock and announces it with publish.
func freeing(publish string) []string {
	return []string{"hget " + key + " " + owner, "del " + key, publish + " " + channel + " 0"}
}

func TestUnlockToFreesAndTells(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, count := range []int{1, 0, -4} {
		r.do("HSET", key, owner, count)
		r.do("PEXPIRE", key, 1_000_000)
		r.expect(unlockTo(0, false, Publish), "int 1", freeing(Publish)...)
		r.holds(nil, "")
		r.published("0")
	}
}

// A repetition finds nothing, even if another owner has acquired meanwhile.
func TestUnlockToRepeatedChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	looks := "hget " + key + " " + owner
	r.do("HSET", key, owner, 1)
	r.expect(unlockTo(0, false, Publish), "int 1", freeing(Publish)...)
	r.published("0")
	r.expect(unlockTo(0, false, Publish), "<nil>", looks)
	r.do("HSET", key, other, 1)
	r.do("PEXPIRE", key, 1_000_000)
	for range 2 {
		r.expect(unlockTo(0, false, Publish), "<nil>", looks)
	}
	r.holds(map[string]string{other: "1"}, "")
	r.lives(key, 1_000_000)
	r.published()
}

// It takes one, unless its client needs all that there are. If it is exact, it takes what its client doesn't need.
func TestUnlockToLeavesWhatItsClientNeeds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, row := range []struct {
		count, least int
		exact        bool
		want         int // 0: free
	}{
		{3, 0, false, 2}, {3, 1, false, 2}, {3, 2, false, 2}, {3, 3, false, 3}, {1, 1, false, 1}, {1, 2, false, 2},
		{3, 0, true, 0}, {3, 1, true, 1}, {3, 3, true, 3}, {1, 2, true, 2},
	} {
		r.do("DEL", key)
		r.do("HSET", key, owner, row.count)
		r.do("PEXPIRE", key, 1_000_000)
		if row.want == 0 {
			r.expect(unlockTo(row.least, row.exact, Publish), "int 1", freeing(Publish)...)
			r.published("0")
			continue
		}
		r.expect(unlockTo(row.least, row.exact, Publish), "int 0", "hget "+key+" "+owner,
			"pexpire "+key+" 30000", fmt.Sprintf("hincrby %s %s %d", key, owner, row.want-row.count))
		r.holds(map[string]string{owner: strconv.Itoa(row.want)}, "")
		r.lives(key, lease)
		r.published()
	}
}

// A full server accepts hincrby only behind another write.
func TestUnlockToRunsOnAFullServer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for count := range 3 {
		r.do("HSET", key, owner, count+1)
		r.do("CONFIG", "SET", "maxmemory", 1)
		if got := show(r.do("EVALSHA", unlockTo(count, false, Publish).Args...)); got != map[bool]string{true: "int 0", false: "int 1"}[count > 0] {
			t.Errorf("of %d holds: %s", count+1, got)
		}
		r.do("CONFIG", "SET", "maxmemory", 0)
	}
}

func TestUnlockToLeavesWhatIsNoLockAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("SET", key, "text")
	r.refused(unlockTo(0, false, Publish), "hget "+key+" "+owner)
	if v := show(r.do("GET", key)); v != `"text"` {
		t.Errorf("the key holds %s", v)
	}
	r.do("DEL", key)
	r.do("HSET", key, owner, "text")
	if reply, err := r.conn.Do("EVALSHA", unlockTo(0, false, Publish).Args...); err == nil {
		t.Errorf("a count that is no number: %v", reply)
	}
	r.holds(map[string]string{owner: "text"}, "")
	r.published()
}

func TestUnlockToByAShardedAnnouncement(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	sub := shardedSubscriber(t, r.server)
	r.do("HSET", key, owner, 1)
	r.expect(unlockTo(0, false, SPublish), "int 1", freeing("SPUBLISH")...)
	heard(t, sub, "0")
	r.published()
	r.do("HSET", key, owner, 1)
	r.expect(unlockTo(0, false, Both), "int 1", append(freeing(SPublish), Publish+" "+channel+" 0")...)
	heard(t, sub, "0")
	r.published("0")
}

// Without a channel nothing is announced, as for a spin lock.
func TestUnlockToTellsNobodyWithoutAChannel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("HSET", key, owner, 1)
	r.expect(UnlockTo(nil, key, "", owner, lease, Left{}, nil), "int 1", "hget "+key+" "+owner, "del "+key)
	r.published()
}
