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
		r.expect(force(key, channel, Publish), "int 1", "hrandfield "+key, "del "+key, "PUBLISH "+channel+" 0")
		r.holds(nil, "")
		r.published("0")
	})
}

func TestForceUnlockOfAFreeNameTellsNobody(t *testing.T) {
	t.Parallel()
	forceForms(t, func(t *testing.T, force func(key, channel, publish string) Call) {
		r := newRig(t)
		r.expect(force(key, channel, Publish), "int 0", "hrandfield "+key, "del "+key)
		r.holds(nil, "")
		r.published()
	})
}

func TestForceUnlockDeletesAnyType(t *testing.T) {
	t.Parallel()
	forceForms(t, func(t *testing.T, force func(key, channel, publish string) Call) {
		r := newRig(t)
		r.do("SET", key, "text")
		r.expect(force(key, channel, Publish), "int 1", "hrandfield "+key, "del "+key, "PUBLISH "+channel+" 0")
		r.holds(nil, "")
		r.published("0")
	})
}

func TestForceUnlockAloneByBothAnnouncements(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	sub := shardedSubscriber(t, r.server)
	r.do("HSET", key, owner, 1)
	r.expect(ForceUnlockAlone(key, channel, Both), "int 1", "hrandfield "+key, "del "+key, SPublish+" "+channel+" 0", Publish+" "+channel+" 0")
	heard(t, sub, "0")
	r.published("0")
}

// Any one field of a group's multi-lock is enough to know it, and no field of a lock is taken for one. An account that may
// not ask deletes it, as Java does, and the script says so.
func TestForceUnlockLeavesAGroupAlone(t *testing.T) {
	t.Parallel()
	const value = "qgEodwQI5mFesj19Jg1v8Q" // of "v1", as Redisson hashes it
	r := newRig(t)
	r.do("ACL", "SETUSER", "blind", "on", "nopass", "~*", "&*", "+@all", "-hrandfield")
	blind := r.server.Dial(t)
	if _, err := blind.Do("AUTH", "blind", ""); err != nil {
		t.Fatal(err)
	}
	for form, call := range map[string]Call{
		"two keys": ForceUnlock(key, channel, Publish), "alone": ForceUnlockAlone(key, channel, Publish),
		"spin": SpinForceUnlock(key), "fair": fairForce(),
	} {
		for field, group := range map[string]bool{
			value: true, "EB0z3mlDR/TEulWKYYizcw": true, value + ":" + owner + ":expire_time": true, value + ":" + owner + ":lock_count": true,
			owner: false, owner + ":write": false, "mode": false, "colour": false, "0123456789abcdef-01234": false,
		} {
			r.do("DEL", key)
			r.do("HSET", key, field, 1)
			reply, err := r.conn.Do("EVALSHA", call.Args...)
			want, left := int64(1), int64(0)
			if group {
				want, left = 2, 1
			}
			if n := r.do("EXISTS", key); reply != want || err != nil || n != left {
				t.Errorf("%s, %s: %v, %v, and %v keys are left", form, field, reply, err, n)
			}
			r.do("HSET", key, field, 1)
			reply, err = blind.Do("EVALSHA", call.Args...)
			if there, why, wrong := DecodeForce(reply); !there || why == nil || errors.Join(err, wrong) != nil {
				t.Errorf("%s, %s, by an account that may not ask: %v, %v", form, field, reply, err)
			}
			if reply, err = blind.Do("EVALSHA", call.Args...); reply != int64(0) || err != nil {
				t.Errorf("%s, without a lock, by an account that may not ask: %v, %v", form, reply, err)
			}
		}
	}
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
