package locks

import (
	"strconv"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// several is a kind that three owners may hold, and whose message says how many are free.
type several struct{ kind.Kind }

var severalKind kind.Kind = several{kind.Reentrant}

var severalTraits = kind.Traits{Family: "several", KeyType: "hash", RenewGroup: "owned hash", Latched: true}

var (
	severalLock = script("several_lock", `
		if redis.call('hexists', KEYS[1], ARGV[2]) == 1 or redis.call('hlen', KEYS[1]) < 3 then
			redis.call('hincrby', KEYS[1], ARGV[2], 1)
			redis.call('pexpire', KEYS[1], ARGV[1])
			return nil
		end
		return redis.call('pttl', KEYS[1])`)
	severalUnlock = script("several_unlock", taken+`
		local earlier = KEYS[3] and redis.call('get', KEYS[3])
		if earlier then return tonumber(earlier) end
		if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
		local result = 0
		if redis.call('hincrby', KEYS[1], ARGV[2], -taken(redis.call('hget', KEYS[1], ARGV[2]), 4)) == 0 then
			redis.call('hdel', KEYS[1], ARGV[2])
			redis.call('publish', KEYS[2], 3 - redis.call('hlen', KEYS[1]))
			result = 1
		end
		if KEYS[3] then redis.call('set', KEYS[3], result, 'px', ARGV[3]) end
		return result`)
)

func (several) Traits() *kind.Traits { return &severalTraits }

func (several) Wake(payload []byte) int {
	n, _ := strconv.Atoi(string(payload))
	return n
}

func (several) Acquire(_ []any, w *kind.Want) kind.Call {
	return run(severalLock, kind.Never, w.Names[:1], w.Lease, w.Owner)
}

func (several) Release(_ []any, w *kind.Want) kind.Call {
	return run(severalUnlock, kind.Always, withLatch(w), append([]any{w.Lease, w.Owner, w.LatchTTL}, left(w)...)...)
}

// asked counts the attempts on a lock.
func asked(lines []monitor.Line, s *luasrc.Script) (n int) {
	for _, l := range lines {
		if l.Is("EVALSHA") && l.Args[1] == s.SHA1 {
			n++
		}
	}
	return n
}

func TestMessageLetsInAsManyAsItSays(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := open(t, s)
	l := c.NewLock(severalKind, "s", "s")
	for range 3 {
		do(t, conn, "HSET", "s", c.NewOwner().String(), 1)
	}
	do(t, conn, "PEXPIRE", "s", time.Hour.Milliseconds())
	ended := make(chan outcome, 6)
	for i := range 6 {
		wait(t.Context(), t, &l, i, ended, Terms{})
	}
	redistest.Becomes(t, "they wait", func() bool { return l.Snapshot().Listening && !l.Snapshot().InFlight })
	tap := monitor.Tap(t, s.URL())
	do(t, conn, "DEL", "s") // three are free now, but no message says so
	none(t, ended)
	do(t, conn, "PUBLISH", "redisson_lock__channel:{s}", "2")
	first, second := next(t, ended), next(t, ended)
	none(t, ended)
	if min(first.who, second.who) != 0 || max(first.who, second.who) != 1 { // each reports from its own goroutine
		t.Errorf("%d and %d entered", first.who, second.who)
	}
	if n := asked(tap.Mark(), severalLock); n != 2 {
		t.Errorf("%d tries for a message that is worth two", n)
	}
	do(t, conn, "PUBLISH", "redisson_lock__channel:{s}", "0")
	do(t, conn, "PUBLISH", "redisson_lock__channel:{s}", "much")
	none(t, ended)
	do(t, conn, "PUBLISH", "redisson_lock__channel:{s}", "1")
	third := next(t, ended)
	// All three hold: no grant has ended another's hold.
	for _, o := range []outcome{first, second, third} {
		if err := o.hold.Err(); err != nil {
			t.Errorf("%d: %v", o.who, err)
		}
	}
	none(t, ended)
	for _, h := range []*Hold{first.hold, second.hold, third.hold} {
		mustUnlock(t, h)
	}
	for range 3 {
		mustUnlock(t, next(t, ended).hold)
	}
	becomes(t, conn, 0, "EXISTS", "s")
}

func TestNewcomersDoNotWaitForEachOthersAnswer(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l := c.NewLock(severalKind, "s", "s")
	mustUnlock(t, mustAcquire(t, &l)) // now there is a connection
	s.Pause()
	defer s.Resume()
	ended := make(chan outcome, 3)
	for i := range 3 {
		wait(t.Context(), t, &l, i, ended, Terms{})
	}
	sec := l.shard.enter(mustNotBlock)
	sent := 0
	for _, st := range l.shard.names[l.nameKey].ownerStates() {
		sent += int(st.attempts)
	}
	sec.leave()
	if sent != 3 {
		t.Errorf("%d attempts of three are under way", sent)
	}
	s.Resume()
	for range 3 {
		mustUnlock(t, next(t, ended).hold)
	}
}

func TestNewcomersEnterUntilOneIsRefused(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	a, b := open(t, s), open(t, s)
	la, lb := a.NewLock(severalKind, "s", "s"), b.NewLock(severalKind, "s", "s")
	ended := make(chan outcome, 8)
	for i := range 8 {
		wait(t.Context(), t, []*Lock{&la, &lb}[i%2], i, ended, Terms{})
	}
	var inside []*Hold
	for range 3 {
		inside = append(inside, next(t, ended).hold)
	}
	none(t, ended)
	for range 5 { // one leaves and one enters
		mustUnlock(t, inside[0])
		inside = append(inside[1:], next(t, ended).hold)
		if n := do(t, conn, "HLEN", "s"); n != int64(3) {
			t.Fatalf("%v hold", n)
		}
	}
	for _, h := range inside {
		mustUnlock(t, h)
	}
}
