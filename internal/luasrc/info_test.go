package luasrc

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestInfoReadsTheLockAndChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	reply, err := r.run(Info(nil, key), "pttl "+key, "hlen "+key)
	if err != nil {
		t.Fatal(err)
	}
	if h, held, err := DecodeHolder(reply); held || err != nil {
		t.Errorf("of no lock: %+v, %v", h, err)
	}
	r.do("HSET", key, owner, 3)
	for ttl, set := range map[time.Duration]string{NoTTL: "PERSIST", 1_000_000 * time.Millisecond: "PEXPIRE"} {
		r.do("PEXPIRE", key, 1_000_000)
		if set == "PERSIST" {
			r.do(set, key)
		}
		reply, err := r.run(Info(nil, key), "pttl "+key, "hlen "+key, "hgetall "+key)
		if err != nil {
			t.Fatal(err)
		}
		h, held, err := DecodeHolder(reply)
		if !held || err != nil || h.Owner != owner || h.Count != 3 || h.TTL > ttl || h.TTL < ttl-5*time.Second {
			t.Errorf("%+v, %v, %v", h, held, err)
		}
	}
	r.holds(map[string]string{owner: "3"}, "")
}

func TestInfoOfAHashThatIsNoLockIsShort(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	long := strings.Repeat("x", 1<<20)
	r.do("HSET", key, long, long)
	for _, fields := range []int{1, 2} {
		reply := r.do("EVALSHA", Info(nil, key).Args...)
		for _, part := range reply.([]any) {
			if text, _ := part.([]byte); len(text) > 100 {
				t.Errorf("%d bytes of a foreign hash", len(text))
			}
		}
		_, _, err := DecodeHolder(reply)
		if _, is := errors.AsType[*ShapeError](err); !is {
			t.Errorf("%d fields: %v", fields, err)
		}
		r.do("HSET", key, owner, 1)
	}
}

func TestInfoOfAnotherTypeFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("SET", key, "text")
	r.refused(Info(nil, key), "pttl "+key, "hlen "+key)
}
