package luasrc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
)

var tokens = codec.TokenKey(key)

func fencedLock() Call { return FencedLock(nil, key, tokens, owner, lease) }

// counted checks the lock's hash and the last token, whose key never expires; "" is no such key.
func (r *rig) counted(lock map[string]string, token string) {
	r.t.Helper()
	got, err := redis.StringMap(r.conn.Do("HGETALL", key))
	if err != nil || fmt.Sprint(got) != fmt.Sprint(lock) {
		r.t.Errorf("the lock is %v, %v; want %v", got, err, lock)
	}
	value, err := redis.String(r.conn.Do("GET", tokens))
	if (err != nil && err != redis.ErrNil) || value != token {
		r.t.Errorf("the last grant is %q, %v; want %q", value, err, token)
	}
	if ttl := r.do("PTTL", tokens); token != "" && ttl != int64(-1) {
		r.t.Errorf("it lives for %v", ttl)
	}
}

func TestFencedLockOfAFreeNameIsNumbered(t *testing.T) {
	t.Parallel()
	for before, token := range map[string]string{"": "1", "41": "42"} {
		r := newRig(t)
		if before != "" {
			r.do("SET", tokens, before)
		}
		r.expect(fencedLock(), "["+token+"]",
			"exists "+key, "incr "+tokens, "hincrby "+key+" "+owner+" 1", "pexpire "+key+" 30000")
		r.counted(map[string]string{owner: "1"}, token)
		r.lives(key, lease)
		r.published()
	}
}

func TestFencedLockAgainByItsOwnerIsNumberedAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("HSET", key, owner, 1)
	r.do("SET", tokens, 7)
	r.expect(fencedLock(), "[8]",
		"exists "+key, "hexists "+key+" "+owner, "incr "+tokens, "hincrby "+key+" "+owner+" 1", "pexpire "+key+" 30000")
	r.counted(map[string]string{owner: "2"}, "8")
	r.lives(key, lease)
}

func TestFencedLockOfAnothersNameTellsItsTTLAndNumbersNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	calls := []string{"exists " + key, "hexists " + key + " " + owner, "pttl " + key}
	r.do("HSET", key, other, 1)
	r.do("SET", tokens, 7)
	r.expect(fencedLock(), "int -1", calls...) // without a TTL, where Redisson's script answers the same for a grant
	r.do("PEXPIRE", key, 1_000_000)
	reply, err := r.run(fencedLock(), calls...)
	if ttl, ok := reply.(int64); !ok || ttl > 1_000_000 || ttl < 990_000 || err != nil {
		t.Errorf("reply %v, %v", reply, err)
	}
	r.counted(map[string]string{other: "1"}, "7")
	r.lives(key, 1_000_000)
}

func TestFencedLockChangesNothingWhereItFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("SET", key, "text", "PX", 1_000_000)
	r.do("SET", tokens, 7)
	r.refused(fencedLock(), "exists "+key, "hexists "+key+" "+owner)
	if v, n := show(r.do("GET", key)), show(r.do("GET", tokens)); v != `"text"` || n != `"7"` {
		t.Errorf("the key holds %s, the number is %s", v, n)
	}
	for _, prepare := range [][]any{{"SET", tokens, "seven"}, {"HSET", tokens, "a", 1}} {
		r.do("DEL", key, tokens)
		r.do(prepare[0].(string), prepare[1:]...)
		before := show(r.do("DUMP", tokens))
		reply, err := r.run(fencedLock(), "exists "+key, "incr "+tokens)
		if err == nil || !strings.Contains(err.Error(), "not an integer") && !strings.Contains(err.Error(), "WRONGTYPE") {
			t.Errorf("%v, %v", reply, err)
		}
		if n := r.do("EXISTS", key); n != int64(0) || show(r.do("DUMP", tokens)) != before {
			t.Errorf("%v: something was changed", prepare)
		}
	}
}
