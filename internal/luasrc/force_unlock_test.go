package luasrc

import (
	"errors"
	"testing"

	"github.com/gomodule/redigo/redis"
)

// forceForms runs a test for each form of the force unlock.
func forceForms(t *testing.T, test func(t *testing.T, force func(key, channel, publish string) Call)) {
	t.Run("two keys", func(t *testing.T) { test(t, ForceUnlock) })
	t.Run("alone", func(t *testing.T) { test(t, ForceUnlockAlone) })
}

func TestForceUnlockFreesWhoeverHolds(t *testing.T) {
	t.Parallel()
	forceForms(t, func(t *testing.T, force func(key, channel, publish string) Call) {
		r := newRig(t)
		r.do("HSET", key, owner, 5, other, 1)
		r.expect(force(key, channel, Publish), "int 1", "del "+key, "PUBLISH "+channel+" 0")
		r.holds(nil, "")
		r.published("0")
	})
}

func TestForceUnlockOfAFreeNameTellsNobody(t *testing.T) {
	t.Parallel()
	forceForms(t, func(t *testing.T, force func(key, channel, publish string) Call) {
		r := newRig(t)
		r.expect(force(key, channel, Publish), "int 0", "del "+key)
		r.holds(nil, "")
		r.published()
	})
}

func TestForceUnlockDeletesAnyType(t *testing.T) {
	t.Parallel()
	forceForms(t, func(t *testing.T, force func(key, channel, publish string) Call) {
		r := newRig(t)
		r.do("SET", key, "text")
		r.expect(force(key, channel, Publish), "int 1", "del "+key, "PUBLISH "+channel+" 0")
		r.holds(nil, "")
		r.published("0")
	})
}

func TestForceUnlockAloneByBothAnnouncements(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	sub := shardedSubscriber(t, r.server)
	r.do("HSET", key, owner, 1)
	r.expect(ForceUnlockAlone(key, channel, Both), "int 1", "del "+key, SPublish+" "+channel+" 0", Publish+" "+channel+" 0")
	heard(t, sub, "0")
	r.published("0")
}

func TestUnknownScriptDoesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("HSET", key, owner, 1)
	r.do("SCRIPT", "FLUSH")
	for _, c := range []Call{
		Lock(nil, key, owner, lease), unlock(Publish), ForceUnlock(key, channel, Publish),
		renewAll([]string{key}, []string{owner}),
	} {
		_, err := r.run(c)
		if e, ok := errors.AsType[redis.Error](err); !ok || len(e) < 8 || e[:8] != "NOSCRIPT" {
			t.Errorf("%s: %v, want NOSCRIPT", c.Script.Name, err)
		}
	}
	r.holds(map[string]string{owner: "1"}, "")
	r.published()
}
