package luasrc

import (
	"fmt"
	"testing"

	"github.com/rlock-go/redisson/watchdog"
)

func batch(n int) (keys, owners []string) {
	for i := range n {
		keys = append(keys, fmt.Sprintf("batch:%d", i))
		owners = append(owners, fmt.Sprintf("550e8400-e29b-41d4-a716-446655440000:%d", i))
	}
	return keys, owners
}

func renewAll(keys, owners []string) Call {
	return Renew(nil, lease, len(keys), func(i int) (key, owner Arg) { return keys[i], owners[i] })
}

// seed gives each key to its owner, with a lease that a renewal will change.
func (r *rig) seed(keys, owners []string) {
	r.t.Helper()
	for i, k := range keys {
		r.do("HSET", k, owners[i], i+1)
		r.do("PEXPIRE", k, 1_000_000)
	}
}

func TestRenewOfOneLock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	keys, owners := batch(1)
	r.seed(keys, owners)
	r.expect(renewAll(keys, owners), "[1]",
		"hexists batch:0 "+owners[0], "pexpire batch:0 30000", "hexists batch:0 "+owners[0])
	r.lives(keys[0], lease)
	if n := show(r.do("HGET", keys[0], owners[0])); n != `"1"` {
		t.Errorf("count %s", n)
	}
	r.published()
}

func TestRenewTellsWhichOfAFullBatchWereLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	keys, owners := batch(watchdog.MaxBatch)
	r.seed(keys, owners)
	const gone, taken = 17, watchdog.MaxBatch - 1
	r.do("DEL", keys[gone], keys[taken])
	r.do("HSET", keys[taken], other, 1)
	r.do("PEXPIRE", keys[taken], 1_000_000)

	var calls []string
	for i, k := range keys {
		calls = append(calls, "hexists "+k+" "+owners[i])
		if i != gone && i != taken {
			calls = append(calls, "pexpire "+k+" 30000", "hexists "+k+" "+owners[i])
		}
	}
	reply, err := r.run(renewAll(keys, owners), calls...)
	if err != nil {
		t.Fatal(err)
	}
	renewed, err := DecodeRenew(reply, watchdog.MaxBatch)
	if err != nil {
		t.Fatal(err)
	}
	for i, ok := range renewed {
		if ok != (i != gone && i != taken) {
			t.Errorf("lock %d: renewed is %v", i, ok)
		}
		switch i {
		case gone:
			if ttl := r.do("PTTL", keys[i]); ttl != int64(-2) {
				t.Errorf("the lost key came back: PTTL %v", ttl)
			}
		case taken:
			r.lives(keys[i], 1_000_000)
		default:
			r.lives(keys[i], lease)
			if n := show(r.do("HGET", keys[i], owners[i])); n != fmt.Sprintf("%q", fmt.Sprint(i+1)) {
				t.Errorf("lock %d: count %s", i, n)
			}
		}
	}
	if n := r.do("DBSIZE"); n != int64(watchdog.MaxBatch-1) {
		t.Errorf("%v keys", n)
	}
	r.published()
}

func TestRenewStopsAtAKeyOfAnotherType(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	keys, owners := batch(3)
	r.seed(keys, owners)
	r.do("SET", keys[1], "text", "PX", 1_000_000)
	r.refused(renewAll(keys, owners),
		"hexists batch:0 "+owners[0], "pexpire batch:0 30000", "hexists batch:0 "+owners[0], "hexists batch:1 "+owners[1])
	r.lives(keys[0], lease)
	r.lives(keys[1], 1_000_000)
	r.lives(keys[2], 1_000_000)
	if v := show(r.do("GET", keys[1])); v != `"text"` {
		t.Errorf("the poisoned key holds %s", v)
	}
}

func TestRenewForNoTimeOnlyLooks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	keys, owners := batch(2)
	r.seed(keys[:1], owners[:1])
	look := Renew(nil, 0, 2, func(i int) (key, owner Arg) { return keys[i], owners[i] })
	r.expect(look, "[1 0]", "hexists batch:0 "+owners[0], "hexists batch:1 "+owners[1])
	r.lives(keys[0], 1_000_000)
}

func TestRenewOfNothing(t *testing.T) {
	t.Parallel()
	newRig(t).expect(renewAll(nil, nil), "[]")
}
