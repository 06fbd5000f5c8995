package luasrc

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/redisconn"
)

const never = 922337203685477

var (
	semaphoreTimes   = codec.PermitTimes(key)
	semaphoreChannel = codec.PermitChannel(key)
	receipt          = codec.Latch(key, "0123456789abcdef0123456789abcde1")
	semaphore        = Permits{Free: key, Times: semaphoreTimes, Channel: semaphoreChannel, Publish: Publish}
)

// permitRig is a server with a subscriber to the messages of one semaphore.
type permitRig struct{ *fairRig }

func newPermitRig(t *testing.T, free any) *permitRig {
	t.Helper()
	r := &permitRig{&fairRig{newRig(t), redis.PubSubConn{}}}
	r.heard.Conn = r.server.Dial(t)
	if err := r.heard.Subscribe(semaphoreChannel); err != nil {
		t.Fatal(err)
	}
	r.heard.Receive()
	if free != nil {
		r.do("SET", key, free)
	}
	return r
}

// says checks the messages since the last check.
func (r *permitRig) says(want ...string) {
	r.t.Helper()
	r.do("PUBLISH", semaphoreChannel, "marker")
	var got []string
	for {
		m, ok := r.heard.Receive().(redis.Message)
		if !ok {
			r.t.Fatal("the subscriber ended")
		}
		if string(m.Data) == "marker" {
			break
		}
		got = append(got, string(m.Data))
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("told %q, want %q", got, want)
	}
}

// are checks how many permits are free, "" being no key, and the ids of those taken.
func (r *permitRig) are(free string, ids ...string) {
	r.t.Helper()
	got, err := redis.String(r.conn.Do("GET", key))
	if (err != nil && err != redis.ErrNil) || got != free {
		r.t.Errorf("%q are free, %v; want %q", got, err, free)
	}
	have, err := redis.Strings(r.conn.Do("ZRANGE", semaphoreTimes, 0, -1))
	slices.Sort(have)
	slices.Sort(ids)
	if err != nil || !slices.Equal(have, ids) {
		r.t.Errorf("the ids are %q, %v; want %q", have, err, ids)
	}
}

// taken makes a permit taken until ms from now; [never] is for ever.
func (r *permitRig) taken(id string, ms int64) {
	r.t.Helper()
	till := r.now() + ms
	if ms == never {
		till = never
	}
	r.do("ZADD", semaphoreTimes, till, id)
}

func raw(i int) string { return fmt.Sprintf("\x00raw\n%%b%09d", i) }

func hexed(id string) string { return fmt.Sprintf("%x", id) }

func TestPermitsAreTakenAllOrNone(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, 3)
	r.gets("<nil>", PermitAcquire(nil, semaphore, lease, []string{raw(1), raw(2)}))
	r.are("1", raw(1), raw(2))
	score, err := redis.Int64(r.conn.Do("ZSCORE", semaphoreTimes, raw(1)))
	if left := score - r.now(); left > lease || left < lease-5000 || err != nil {
		t.Errorf("taken for %d ms, %v", left, err)
	}
	if got := r.ask(PermitAcquire(nil, semaphore, lease, []string{raw(3), raw(4)})).(int64); got > lease || got < lease-5000 {
		t.Errorf("two of one: %v", got)
	}
	r.are("1", raw(1), raw(2))
	r.says()
	if n := r.do("PTTL", semaphoreTimes); n != int64(-1) {
		t.Errorf("the times live for %v", n)
	}
	r.do("PEXPIRE", key, 20_000)
	r.gets("<nil>", PermitAcquire(nil, semaphore, lease, []string{raw(5)}))
	r.lives(semaphoreTimes, 20_000)
	r.lives(key, 20_000)
}

func TestWhoIsRefusedPermitsIsToldOfTheNextTime(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, nil)
	r.gets("int -3", PermitAcquire(nil, semaphore, lease, []string{raw(1)}))
	r.are("")
	r.taken(raw(2), never)
	r.gets("int -1", PermitAcquire(nil, semaphore, lease, []string{raw(1)}))
	r.do("SET", key, -2)
	r.taken(raw(3), -1)
	r.gets("int -1", PermitAcquire(nil, semaphore, lease, []string{raw(1)}))
	r.are("-1", raw(2))
	r.says() // the permit that came back is not usable
}

func TestAcquireTakesBackAsManyAsItWants(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, 0)
	for i := range 3 {
		r.taken(raw(i), int64(i)-100)
	}
	r.gets("<nil>", PermitAcquire(nil, semaphore, lease, []string{raw(9)}))
	r.are("0", raw(1), raw(2), raw(9))
	r.says("1")
	r.gets("[2 1]", PermitCount(semaphore))
	r.are("2", raw(9))
	r.says("2")
}

// After a shrink the number of free permits may be so negative that one acquire can't take back enough. If it is
// refused, it gets the lease of a permit that is still taken: with an expired one's it would ask again at once.
func TestPermitsWhoseTimeIsOverAreFreeAfterAShrink(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, -3)
	for i := range 5 {
		r.taken(raw(i), -1)
	}
	r.gets("<nil>", PermitAcquire(nil, semaphore, lease, []string{raw(9)}))
	r.are("1", raw(9))
	r.says("2")
	r.do("SET", key, -7)
	for i := range 5 {
		r.taken(raw(i), -1)
	}
	if got := r.ask(PermitAcquire(nil, semaphore, lease, []string{raw(8)})).(int64); got > lease || got < lease-5000 {
		t.Errorf("told %d", got)
	}
	r.are("-2", raw(9))
	r.says()
}

func TestPermitsComeBackOnce(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, 0)
	r.taken(raw(1), lease)
	r.taken(raw(2), lease)
	r.taken(raw(3), lease)
	r.gets("int 1", PermitRelease(nil, semaphore, []string{raw(1)}))
	r.says("1")
	r.gets("<nil>", PermitRelease(nil, semaphore, []string{raw(1)}))
	r.gets("int 1", PermitRelease(nil, semaphore, []string{raw(2), raw(3)}))
	r.are("3")
	r.says("2")
	// Of two permits one is gone, then the time of one is over.
	r.taken(raw(4), lease)
	r.gets("<nil>", PermitRelease(nil, semaphore, []string{raw(4), raw(5)}))
	r.taken(raw(6), -1)
	r.gets("<nil>", PermitRelease(nil, semaphore, []string{raw(6)}))
	r.are("5")
	r.says("1", "5")
}

func TestPermitsComeBackByTheirIDs(t *testing.T) {
	t.Parallel()
	for _, form := range []func(string) string{func(id string) string { return id }, hexed} {
		r := newPermitRig(t, 0)
		release := func(want string, ids ...string) {
			r.t.Helper()
			call := PermitReleaseIDs(semaphore, receipt, latchMs, ids)
			r.gets(want, call)
			r.gets(want, call) // repeated
			r.lives(receipt, latchMs)
			r.do("DEL", receipt)
		}
		for i := range 4 {
			r.taken(form(raw(i)), lease)
		}
		release("int 1", raw(0))
		release("int 0", raw(0))
		release("int 0", raw(1), raw(8))
		r.are("1", form(raw(1)), form(raw(2)), form(raw(3)))
		release("int 1", raw(1), raw(2))
		r.says("1", "2")
		// A single permit comes back even if its time is over; of several, none does.
		r.taken(form(raw(5)), -1)
		release("int 0", raw(3), raw(5))
		r.are("3", form(raw(3)), form(raw(5)))
		release("int 0", raw(5))
		r.are("4", form(raw(3)))
	}
}

func TestPermitsAreRenewedTogether(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, 0)
	for i := range 5 {
		r.taken(raw(i), 1000)
	}
	r.taken(raw(4), -1)
	acquires := [][]string{{raw(0), raw(1)}, {raw(2), raw(8)}, {raw(3)}, {raw(4)}}
	r.gets("[1 0 1 0]", PermitRenew(nil, lease, len(acquires), func(i int) (Arg, []string) { return semaphoreTimes, acquires[i] }))
	for id, want := range map[string]bool{raw(0): true, raw(1): true, raw(2): false, raw(3): true, raw(4): false} {
		score, err := redis.Int64(r.conn.Do("ZSCORE", semaphoreTimes, id))
		if (score > r.now()+1000) != want || err != nil {
			t.Errorf("%q is renewed: %v, want %v; %v", id, !want, want, err)
		}
	}
	r.says()
}

// A lost permit would be taken by others. So it is renewed like a lock, also while the server takes nothing that could
// need memory.
func TestPermitsAreRenewedWhileTheServerIsFull(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, 0)
	r.taken(raw(1), 1000)
	r.do("CONFIG", "SET", "maxmemory", 1)
	r.gets("[1]", PermitRenew(nil, lease, 1, func(int) (Arg, []string) { return semaphoreTimes, []string{raw(1)} }))
	if score, err := redis.Int64(r.conn.Do("ZSCORE", semaphoreTimes, raw(1))); score <= r.now()+1000 || err != nil {
		t.Errorf("it is not renewed: %v", err)
	}
	r.are("0", raw(1))
}

func TestPermitsLease(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, 0)
	r.gets("<nil>", PermitLeft(semaphore, raw(1), 0))
	r.taken(raw(1), never)
	r.taken(hexed(raw(2)), never)
	for _, id := range []string{raw(1), raw(2)} {
		r.gets("int -1", PermitLeft(semaphore, id, 0))
		r.gets("int 30000", PermitLeft(semaphore, id, lease))
		if left := r.ask(PermitLeft(semaphore, id, 0)).(int64); left > lease || left < lease-5000 {
			t.Errorf("%d ms are left", left)
		}
	}
	r.are("0", raw(1), hexed(raw(2)))
	r.taken(raw(1), -1)
	r.gets("<nil>", PermitLeft(semaphore, raw(1), lease))
	r.are("1", hexed(raw(2)))
	r.says("1")
}

func TestPermitsAreSetOnceForEachReceipt(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, nil)
	set := func(how string, n int, want string) {
		r.t.Helper()
		call := PermitSet(semaphore, receipt, latchMs, how, n, 0)
		r.gets(want, call)
		r.gets(want, call) // repeated
		r.do("DEL", receipt)
	}
	set(FirstPermits, 3, "int 1")
	r.are("3")
	set(FirstPermits, 5, "int 0")
	set(MorePermits, 2, "int 1")
	r.are("5")
	r.says("3", "2")
	r.taken(raw(1), lease)
	r.taken(raw(2), lease)
	set(TotalPermits, 7, "int 1") // as it was
	r.says()
	set(TotalPermits, 1, "int 1")
	r.are("-1", raw(1), raw(2))
	set(MorePermits, -1, "int 1")
	r.are("-2", raw(1), raw(2))
	r.says("1")
	r.gets("int 1", PermitDelete(semaphore))
	r.gets("int 0", PermitDelete(semaphore))
	r.are("")
	set(TotalPermits, 4, "int 1")
	r.are("4")
	r.says("4")
}

// Each call meets a key of another type or a text that is no number, and leaves both keys as they are.
func TestKeysThatAreNoPermitsStay(t *testing.T) {
	t.Parallel()
	calls := map[string]Call{
		"acquire":     PermitAcquire(nil, semaphore, lease, []string{raw(1)}),
		"release":     PermitRelease(nil, semaphore, []string{raw(7), raw(8)}),
		"release one": PermitRelease(nil, semaphore, []string{raw(7)}),
		"by ids":      PermitReleaseIDs(semaphore, receipt, latchMs, []string{raw(7)}),
		"count":       PermitCount(semaphore),
		"total":       PermitSet(semaphore, receipt, latchMs, TotalPermits, 3, 0),
		"left":        PermitLeft(semaphore, raw(7), lease),
	}
	for name, call := range calls {
		r := newPermitRig(t, nil)
		r.do("HSET", key, "a", "b")
		r.taken(raw(7), -1)
		r.taken(raw(8), lease)
		if _, err := r.conn.Do("EVALSHA", call.Args...); err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
			t.Errorf("%s of a hash: %v", name, err)
		}
		if n := r.do("ZCARD", semaphoreTimes); n != int64(2) {
			t.Errorf("%s of a hash leaves %v", name, n)
		}
		r.do("DEL", key, semaphoreTimes)
		r.do("SET", key, 3)
		r.do("SET", semaphoreTimes, "text")
		if _, err := r.conn.Do("EVALSHA", call.Args...); err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
			t.Errorf("%s of times that are none: %v", name, err)
		}
		if n := r.do("DBSIZE"); n != int64(2) || string(r.do("GET", key).([]byte)) != "3" {
			t.Errorf("%s of times that are none leaves %v keys", name, n)
		}
		r.do("DEL", semaphoreTimes)
		r.do("SET", key, "many")
		r.taken(raw(7), -1)
		if _, err := r.conn.Do("EVALSHA", call.Args...); err == nil {
			t.Errorf("%s of a text succeeds", name)
		}
		if n := r.do("ZCARD", semaphoreTimes); n != int64(1) || string(r.do("GET", key).([]byte)) != "many" {
			t.Errorf("%s of a text leaves %v", name, n)
		}
	}
}

// A caller must learn that nothing was changed.
func TestPermitsOfATextAreRefused(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, nil)
	r.taken(raw(7), never)
	for name, call := range map[string]Call{
		"acquire": PermitAcquire(nil, semaphore, 1000, []string{raw(1)}),
		"count":   PermitCount(semaphore),
		"total":   PermitSet(semaphore, receipt, 1000, TotalPermits, 3, 0),
		"more":    PermitSet(semaphore, receipt, 1000, MorePermits, 3, 0),
	} {
		for _, text := range []string{"many", "1e1", "0x10", "10.0", "10\n", " 10", "010", ""} { // Lua takes most for numbers
			r.do("SET", key, text)
			_, err := r.conn.Do("EVAL", append([]any{call.Script.Source}, call.Args[1:]...)...)
			if said, _ := redisconn.RefusalOf(err); !said.NothingRan() || !strings.Contains(err.Error(), "not an integer") {
				t.Errorf("%s of %q: %v", name, text, err)
			}
			r.are(text, raw(7))
		}
	}
}

func TestPermitsAreAnnouncedByBothCommands(t *testing.T) {
	both := semaphore
	both.Publish = Both
	got := PermitRelease(nil, both, []string{"id"}).Args
	if want := []any{PermitReleaseScript.SHA1, 2, semaphoreTimes, key, semaphoreChannel, 2, SPublish, Publish, "id"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// An acquire that is sent again, once or twice, leaves and answers what it would have if it had run once, whether it ran before or
// not, and though times are over, its own too.
func TestPermitAcquireSentAgainIsOneAcquire(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t, nil)
	acquire := PermitAcquire(nil, semaphore, lease, []string{raw(1), raw(2)})
	for name, give := range map[string]func(){
		"free":            func() { r.do("SET", key, 5) },
		"none more":       func() { r.do("SET", key, 2) },
		"too few":         func() { r.do("SET", key, 1) },
		"some are over":   func() { r.do("SET", key, 0); r.taken(raw(3), -1); r.taken(raw(4), -1) },
		"it has one left": func() { r.do("SET", key, 1); r.taken(raw(1), 10_000) },
		"its own is over": func() { r.do("SET", key, 0); r.taken(raw(2), -1); r.taken(raw(3), -1) },
		"nobody set any":  func() {},
	} {
		start := func() {
			r.do("FLUSHALL")
			give()
		}
		start()
		reply := shown(r.ask(acquire))
		left := r.facts()
		for times := 2; times <= 3; times++ {
			start()
			for range times {
				if got := shown(r.ask(Again(acquire, 1))); got != reply {
					t.Errorf("%s, sent %d times: reply %s, want %s", name, times, got, reply)
				}
			}
			if got := r.facts(); !got.equal(left) {
				t.Errorf("%s, sent %d times:\n\t%v\nwant\n\t%v", name, times, got, left)
			}
		}
	}
	r.do("FLUSHALL") // its number was deleted, as with a semaphore that lost all its permits
	r.taken(raw(1), 10_000)
	r.taken(raw(2), 10_000)
	r.gets("<nil>", acquire)
	r.are("", raw(1), raw(2))
}
