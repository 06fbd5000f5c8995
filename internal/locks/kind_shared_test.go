package locks

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// reading and writing are two kinds of one family on one key: many owners read, or one writes and may read as well.
// The hash has a field for an owner's reads, another for its writes, and one for the mode.
type (
	reading struct{ kind.Kind }
	writing struct{ reading }
)

var (
	readingKind kind.Kind = reading{kind.Reentrant}
	writingKind kind.Kind = writing{reading{kind.Reentrant}}
)

var (
	readingTraits = kind.Traits{Family: "rw", Queue: "read", KeyType: "hash", Tally: "read", RenewGroup: "read", Latched: true}
	writingTraits = kind.Traits{Family: "rw", Queue: "write", Width: 1, KeyType: "hash", Tally: "write", RenewGroup: "write", Latched: true, NoUpgrade: errReads}
)

// written is the field for an owner's writes.
type written struct{ kind.Owner }

func (w written) RedisArg() any { return w.String() + ":write" }

const longest = `
	local function extend(lease) if redis.call('pttl', KEYS[1]) < tonumber(lease) then redis.call('pexpire', KEYS[1], lease) end end
`

var (
	readLock = script("read_lock", longest+`
		local mode = redis.call('hget', KEYS[1], 'mode')
		if mode == 'write' and redis.call('hexists', KEYS[1], ARGV[3]) == 0 then return redis.call('pttl', KEYS[1]) end
		if not mode then redis.call('hset', KEYS[1], 'mode', 'read') end
		redis.call('hincrby', KEYS[1], ARGV[2], 1)
		extend(ARGV[1])
		return nil`)
	writeLock = script("write_lock", longest+`
		if redis.call('exists', KEYS[1]) == 1 and redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return redis.call('pttl', KEYS[1]) end
		redis.call('hset', KEYS[1], 'mode', 'write')
		redis.call('hincrby', KEYS[1], ARGV[2], 1)
		extend(ARGV[1])
		return nil`)
	leaveShared = script("leave_shared", longest+taken+`
		local earlier = KEYS[3] and redis.call('get', KEYS[3])
		if earlier then return tonumber(earlier) end
		if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
		local result = 1
		if redis.call('hincrby', KEYS[1], ARGV[2], -taken(redis.call('hget', KEYS[1], ARGV[2]), 6)) == 0 then
			redis.call('hdel', KEYS[1], ARGV[2])
			if ARGV[4] == '1' then redis.call('hset', KEYS[1], 'mode', 'read') end
			if redis.call('hlen', KEYS[1]) == 1 then redis.call('del', KEYS[1]) end
			redis.call('publish', KEYS[2], ARGV[4])
		end
		if redis.call('hexists', KEYS[1], ARGV[2]) == 1 or redis.call('hexists', KEYS[1], ARGV[5]) == 1 then
			extend(ARGV[1])
			result = 0
		end
		if KEYS[3] then redis.call('set', KEYS[3], result, 'px', ARGV[3]) end
		return result`)
)

func (reading) Traits() *kind.Traits { return &readingTraits }
func (writing) Traits() *kind.Traits { return &writingTraits }

func (reading) Wake([]byte) int { return kind.All }

func (reading) Acquire(_ []any, w *kind.Want) kind.Call {
	return run(readLock, kind.Never, w.Names[:1], w.Lease, w.Owner, written{w.Owner})
}

func (writing) Acquire(_ []any, w *kind.Want) kind.Call {
	return run(writeLock, kind.Never, w.Names[:1], w.Lease, written{w.Owner})
}

func (reading) Release(_ []any, w *kind.Want) kind.Call {
	return run(leaveShared, kind.Always, withLatch(w), append([]any{w.Lease, w.Owner, w.LatchTTL, "0", written{w.Owner}}, left(w)...)...)
}

func (writing) Release(_ []any, w *kind.Want) kind.Call {
	return run(leaveShared, kind.Always, withLatch(w), append([]any{w.Lease, written{w.Owner}, w.LatchTTL, "1", w.Owner}, left(w)...)...)
}

// Renew is a plain lock's, with the field for the owner's writes.
func (writing) Renew(room []any, lease kind.Arg, n int, at func(i int) kind.Held) kind.Call {
	return kind.Run(luasrc.Renew(room, lease, n, func(i int) (key, owner kind.Arg) {
		h := at(i)
		return h.Names.Key(), written{h.Owner}
	}), kind.Always)
}

// Ask tells the two kinds apart by the mode.
func (k reading) Ask(q kind.Question, w *kind.Want) kind.Query {
	return askMode(k.Kind, q, w, "read")
}

func (k writing) Ask(q kind.Question, w *kind.Want) kind.Query {
	if q == kind.HoldCount {
		as := *w
		as.Owner = written{w.Owner}
		w = &as
	}
	return askMode(k.Kind, q, w, "write")
}

func askMode(k kind.Kind, q kind.Question, w *kind.Want, mode string) kind.Query {
	if q != kind.Forcible {
		return k.Ask(q, w)
	}
	return kind.Query{Call: kind.Read("HGET", w.Names.Key(), "mode"), Answer: func(reply any) (kind.Answer, error) {
		found, _ := reply.([]byte)
		return kind.Answer{Yes: string(found) == mode}, nil
	}}
}

var errReads = errors.New("who reads can't write before it stops")

// sharedLocks returns both locks of a key.
func sharedLocks(c *Client) (r, w *Lock) {
	read, write := c.NewLock(readingKind, "rw", "rw"), c.NewLock(writingKind, "rw", "rw")
	return &read, &write
}

// acquireAs acquires with terms, such as an owner.
func acquireAs(t *testing.T, l *Lock, terms Terms) *Hold {
	t.Helper()
	ended := make(chan outcome, 1)
	wait(t.Context(), t, l, 0, ended, terms)
	return next(t, ended).hold
}

func awaitsMessage(t *testing.T, l *Lock, n int) {
	t.Helper()
	redistest.Becomes(t, fmt.Sprint(n, " wait"), func() bool {
		s := l.Snapshot()
		return s.Listening && !s.InFlight && s.Waiting == n
	})
}

func TestReleaseOfOneKindWakesAllWaitersOfTheOther(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	r, w := sharedLocks(c)
	h := mustAcquire(t, w)
	ended := make(chan outcome, 6)
	for i := range 4 {
		wait(t.Context(), t, r, i, ended, Terms{})
	}
	awaitsMessage(t, r, 4)
	wait(t.Context(), t, w, 4, ended, Terms{})
	awaitsMessage(t, w, 1)
	none(t, ended)
	tap := monitor.Tap(t, s.URL())
	mustUnlock(t, h)
	var readers []*Hold
	var writer *Hold
	for range 4 { // the writer may be granted before, between or after the readers
		o := next(t, ended)
		if o.who == 4 {
			writer = o.hold
			mustUnlock(t, writer)
			o = next(t, ended)
		}
		readers = append(readers, o.hold)
	}
	for _, h := range readers {
		if err := h.Err(); err != nil {
			t.Errorf("a reader's hold ended with another's: %v", err)
		}
	}
	if n := asked(tap.Mark(), readLock); writer == nil && n != 4 {
		t.Errorf("%d tries of four readers", n)
	}
	if writer == nil {
		none(t, ended)
	}
	for _, h := range readers {
		mustUnlock(t, h)
	}
	if writer == nil {
		mustUnlock(t, next(t, ended).hold)
	}
	becomes(t, s.Dial(t), 0, "EXISTS", "rw")
}

func TestOwnerOfTwoKindsIsRenewedAsBoth(t *testing.T) {
	redistest.Slow(t, "waits for renewals")
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	o := config()
	o.Watchdog = 6 * time.Second
	c := openWith(t, s, o)
	r, w := sharedLocks(c)
	as := Terms{As: true, Owner: c.NewOwner()}
	write, read := acquireAs(t, w, as), acquireAs(t, r, as)
	tap := monitor.Tap(t, s.URL())
	renewed := func(fields ...string) {
		t.Helper()
		for range 2 { // twice: then the replies of the first renewals have been read
			for _, field := range fields {
				tap.UntilMatch("a renewal of "+field, func(l monitor.Line) bool {
					return l.Is("EVALSHA") && l.Args[1] == luasrc.RenewScript.SHA1 && l.Args[len(l.Args)-1] == field
				})
			}
		}
	}
	renewed(as.Owner.String()+":write", as.Owner.String())
	for _, h := range []*Hold{write, read} {
		if err := h.Err(); err != nil {
			t.Fatal(err)
		}
	}
	// The owner's write hold is gone; its read hold is not.
	do(t, conn, "HDEL", "rw", as.Owner.String()+":write")
	redistest.Becomes(t, "the lost hold knows", func() bool { return write.Err() != nil })
	renewed(as.Owner.String())
	if err := read.Err(); err != nil {
		t.Errorf("the other kind's hold: %v", err)
	}
	mustUnlock(t, read)
}

func TestKindRefusesWhatItsOwnerCouldNeverGet(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	r, w := sharedLocks(c)
	as := Terms{As: true, Owner: c.NewOwner()}
	read := acquireAs(t, r, as)
	tap := monitor.Tap(t, s.URL())
	waiter := NewWaiter(w)
	waiter.Terms = as
	if err := waiter.Start(); !errors.Is(err, ErrInvalidOption) || !errors.Is(err, errReads) {
		t.Errorf("%v", err)
	}
	if lines := tap.Mark(); len(lines) > 0 {
		t.Errorf("it sent %v", lines)
	}
	mustUnlock(t, read)
	write := acquireAs(t, w, as)
	mustUnlock(t, acquireAs(t, r, as))
	mustUnlock(t, write)
}

func TestForceEndsTheHoldsOfBothKindsIfItsOwnIsHeld(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	r, w := sharedLocks(c)
	read := mustAcquire(t, r)
	if was, err := ForceUnlock(t.Context(), w); was || err != nil {
		t.Errorf("nobody writes: %v, %v", was, err)
	}
	if err := read.Err(); err != nil {
		t.Errorf("nobody writes, and who reads: %v", err)
	}
	mustUnlock(t, read)
	write := mustAcquire(t, w)
	read = acquireAs(t, r, Terms{As: true, Owner: write.Owner()})
	if was, err := ForceUnlock(t.Context(), r); was || err != nil {
		t.Errorf("it is a writer's: %v, %v", was, err)
	}
	if was, err := ForceUnlock(t.Context(), w); !was || err != nil {
		t.Errorf("%v, %v", was, err)
	}
	for _, h := range []*Hold{write, read} {
		if err := h.Err(); !errors.Is(err, ErrLeaseLost) {
			t.Errorf("%v", err)
		}
	}
}

func TestReleaseOfOneKindGivesTheOtherItsLease(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	r, w := sharedLocks(c)
	as := Terms{As: true, Owner: c.NewOwner()}
	write, read := acquireAs(t, w, as), acquireAs(t, r, as)
	before := write.ValidUntil()
	mustUnlock(t, read)
	if after := write.ValidUntil(); !after.After(before) {
		t.Errorf("what is left was given a lease, and is trusted until %v, before until %v", after, before)
	}
	if err := write.Err(); err != nil {
		t.Error(err)
	}
	mustUnlock(t, write)
}

func TestReleaseOfAReaderIsItsLastBesideOthers(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := open(t, s)
	r, _ := sharedLocks(c)
	one, other := mustAcquire(t, r), mustAcquire(t, r)
	mustUnlock(t, one)
	if err := other.Err(); err != nil {
		t.Error(err)
	}
	if n := do(t, conn, "HLEN", "rw"); n != int64(2) { // the other reader and the mode
		t.Errorf("%v fields", n)
	}
	mustUnlock(t, other)
	becomes(t, conn, 0, "EXISTS", "rw")
}

func TestGrantToAReaderEndsWhatOthersWrite(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := open(t, s)
	r, w := sharedLocks(c)
	writer := Terms{As: true, Owner: c.NewOwner()}
	write, writerReads := acquireAs(t, w, writer), acquireAs(t, r, writer)
	again := acquireAs(t, r, writer)
	if err := write.Err(); err != nil {
		t.Errorf("its own grant to read: %v", err)
	}
	mustUnlock(t, again)
	do(t, conn, "HDEL", "rw", writer.Owner.String()+":write")
	do(t, conn, "HSET", "rw", "mode", "read")
	reads := mustAcquire(t, r)
	if err := write.Err(); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("it writes beside a reader: %v", err)
	}
	for _, h := range []*Hold{writerReads, reads} {
		if err := h.Err(); err != nil {
			t.Errorf("what it reads: %v", err)
		}
		mustUnlock(t, h)
	}
	becomes(t, conn, 0, "EXISTS", "rw")
}
