package lockstate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// A server that is set back to what it had at an earlier moment is what a failover leads to: the next master has a
// beginning of what the former ran.
type setBack struct {
	t    *testing.T
	conn redis.Conn
	had  map[string]string
}

// keep remembers what the server has.
func (s *setBack) keep() {
	s.t.Helper()
	s.had = map[string]string{}
	keys, err := redis.Strings(s.conn.Do("KEYS", "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, key := range keys {
		if dump, err := redis.String(s.conn.Do("DUMP", key)); err == nil { // it may have expired
			s.had[key] = dump
		}
	}
}

// setBack has the server have that again, at one moment.
func (s *setBack) setBack() {
	s.t.Helper()
	_ = s.conn.Send("MULTI")
	_ = s.conn.Send("FLUSHALL")
	for key, dump := range s.had {
		_ = s.conn.Send("RESTORE", key, (10 * time.Minute).Milliseconds(), dump)
	}
	do(s.t, s.conn, "EXEC")
}

// openReplaced is a client whose server may be replaced.
func openReplaced(t *testing.T, s *redistest.Server) *State {
	t.Helper()
	o := config()
	o.Replicas = true
	o.Topology = func(settings topology.Settings) (topology.Topology, error) { return topology.Open(s.URL(), settings) }
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// repeated has the client learn of a failover, and returns when every repetition has ended.
func repeated(t *testing.T, clients ...*State) {
	t.Helper()
	for _, c := range clients {
		c.repeatUnlocks(topology.AllSlots)
	}
	for _, c := range clients {
		for end := time.Now().Add(2 * soon); c.repeatsLeft(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Error("the repetitions don't end")
				return
			}
		}
	}
}

// repeatsLeft tells whether an unlock is to be sent again, or is under way again.
func (c *State) repeatsLeft() (any bool) {
	for i := range c.shards {
		s := &c.shards[i]
		sec := s.enter(mustNotBlock)
		any = any || s.repeats > 0 || slices.ContainsFunc(s.past, func(u pastUnlock) bool { return u.due })
		sec.leave()
	}
	return any
}

// tryAs makes one attempt.
func tryAs(l *Lock, o Owner) (*Hold, error) {
	w := l.NewWaiter()
	if o != (Owner{}) {
		w.Terms.Owner, w.Terms.As = o, true
	}
	w.Terms.HasWait = true // of 0: one attempt
	if err := w.Start(); err != nil {
		return nil, err
	}
	return w.Result(context.Background(), w.Await(context.Background()))
}

// acknowledged has it be so that all replicas acknowledged the acquire.
func (h *Hold) acknowledged() {
	defer h.l.s.enter(mustNotBlock).leave()
	h.everywhere = true
}

// era is when something happened, seen from the server that is set back.
type era int

const (
	kept  era = iota // what it has afterwards
	gone             // what it lacks afterwards
	after            // at the next master
)

// modelHold is a hold as the test knows it.
type modelHold struct {
	*Hold
	owner Owner
	in    era
	over  bool // it was released
	shown bool // others might act as the owner then
}

// failover is one history: two clients, one name, a failover in the midst of it.
type failover struct {
	t       *testing.T
	rand    *rand.Rand
	clients [2]*State
	locks   [2]Lock
	shared  []Owner // by As
	holds   []*modelHold
	crossed bool          // both clients act as one owner that is used elsewhere
	over    chan struct{} // closed when all repetitions have ended
	log     []string
}

func (f *failover) note(format string, args ...any) {
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

// step does one thing at random.
func (f *failover) step(in era) {
	var living []*modelHold
	for _, h := range f.holds {
		if !h.over && (in != after || h.in != gone) { // a hold that the next master never had is nobody's to release there
			living = append(living, h)
		}
	}
	i := f.rand.IntN(2)
	switch n := f.rand.IntN(10); {
	case n < 4 && len(living) > 0:
		h := living[f.rand.IntN(len(living))]
		h.over, h.shown = true, slices.Contains(f.shared, h.owner)
		err := h.Unlock(context.Background())
		f.note("%d unlock %s: %v", in, h.owner.String(), err)
	case n < 5 && len(f.holds) > 0:
		h := f.holds[f.rand.IntN(len(f.holds))]
		f.shared = append(f.shared, h.Hold.Owner())
		f.note("%d show %s", in, h.owner.String())
	case n < 8 && len(f.shared) > 0:
		o := f.shared[f.rand.IntN(len(f.shared))]
		if !f.crossed && o.client != f.clients[i].id {
			i = 1 - i
		}
		// Whoever hands an owner over for the first time holds as it, or waits: a repetition may be on its way to the server.
		if in == after && f.crossed && f.clients[1-i].Exclusive(o) {
			<-f.over
		}
		f.acquire(in, i, o)
	default:
		f.acquire(in, i, Owner{})
	}
}

func (f *failover) acquire(in era, i int, o Owner) {
	h, err := tryAs(&f.locks[i], o)
	f.note("%d client %d acquires as %s: %v", in, i, o.String(), err)
	switch {
	case errors.Is(err, ErrLocked):
	case err != nil:
		f.t.Errorf("%v", err)
	default:
		if in == kept {
			h.acknowledged()
		}
		f.holds = append(f.holds, &modelHold{Hold: h, owner: h.st.owner, in: in})
	}
}

// check compares what the next master has with what the history allows.
func (f *failover) check(conn redis.Conn) {
	count, err := redis.Int64Map(conn.Do("HGETALL", f.locks[0].key))
	if err != nil {
		f.t.Fatal(err)
	}
	atLeast, mayStay := map[string]int64{}, map[string]bool{}
	for _, h := range f.holds {
		if !h.over && h.in != gone {
			atLeast[h.owner.String()]++
		}
		if !h.over || f.crossed && !(h.in == kept && h.shown) {
			mayStay[h.owner.String()] = true
		}
	}
	for o, n := range atLeast {
		if count[o] < n {
			f.t.Errorf("owner %s has %d holds that no one released, and the server counts %d", o, n, count[o])
		}
	}
	for o, n := range count {
		if !mayStay[o] {
			f.t.Errorf("owner %s holds nothing, and the server counts %d", o, n)
		}
	}
}

// Whatever happened before and since, no repetition releases a hold that nobody released; and what nobody holds is free.
func TestR5RepeatedUnlocksMeetNoOtherHold(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	back := &setBack{t: t, conn: conn}
	rounds := 1000
	if testing.Short() {
		rounds = 200
	}
	for round := range rounds {
		seed := rand.Uint64()
		f := &failover{t: t, rand: rand.New(rand.NewPCG(seed, 0)), crossed: round%2 == 1}
		for i := range f.clients {
			f.clients[i] = openReplaced(t, s)
			f.locks[i] = f.clients[i].NewLock(kind.Reentrant, "orders", "orders")
			f.shared = append(f.shared, f.clients[i].NewOwner())
		}
		for range f.rand.IntN(5) {
			f.step(kept)
		}
		back.keep()
		for range f.rand.IntN(5) {
			f.step(gone)
		}
		back.setBack()
		f.over = make(chan struct{})
		go func() {
			defer close(f.over)
			repeated(t, f.clients[0], f.clients[1])
		}()
		for range f.rand.IntN(4) {
			f.step(after)
		}
		<-f.over
		repeated(t, f.clients[0], f.clients[1]) // any number of times
		f.check(conn)
		for _, c := range f.clients {
			c.Close()
		}
		do(t, conn, "FLUSHALL")
		if t.Failed() {
			t.Fatalf("seed %d: %q", seed, f.log)
		}
	}
}

// Where the next master lacks a hold with its unlock, the unlock would release what another client holds as the owner.
func TestUnlockOfAHoldThatNotAllHaveMeetsNoOtherClients(t *testing.T) {
	s := redistest.Start(t)
	conn := s.Dial(t)
	back := &setBack{t: t, conn: conn}
	c, other := openReplaced(t, s), openReplaced(t, s)
	l, lo := c.NewLock(kind.Reentrant, "orders", "orders"), other.NewLock(kind.Reentrant, "orders", "orders")
	o := c.NewOwner()
	_ = o.Share()
	if _, err := tryAs(&lo, o); err != nil {
		t.Fatal(err)
	}
	back.keep()
	h, err := tryAs(&l, o)
	if err != nil {
		t.Fatal(err)
	}
	unlock(t, h)
	back.setBack()
	repeated(t, c)
	becomes(t, conn, 1, "HEXISTS", "orders", o.String())
}

// An unlock that found nothing left no latch, whatever replicas said of its acquire.
func TestUnlockThatFoundNothingMeetsNoLaterHold(t *testing.T) {
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := openReplaced(t, s)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	o := c.NewOwner()
	h, err := tryAs(&l, o)
	if err != nil {
		t.Fatal(err)
	}
	h.acknowledged()
	do(t, conn, "DEL", "orders")
	if err := h.Unlock(t.Context()); !errors.Is(err, ErrNotHeld) {
		t.Fatal(err)
	}
	do(t, conn, "HSET", "orders", o.Share(), 1) // another process acquires as the owner
	repeated(t, c)
	becomes(t, conn, 1, "EXISTS", "orders")
}

// The next master lacks one of two holds. The unlock of that one takes the other's count, so the other's own finds nothing
// and leaves no latch: sent a second time it would meet what another client has acquired since as the owner.
func TestRepetitionThatFoundNothingMeetsNoLaterHold(t *testing.T) {
	s := redistest.Start(t)
	conn := s.Dial(t)
	back := &setBack{t: t, conn: conn}
	c, other := openReplaced(t, s), openReplaced(t, s)
	l, lo := c.NewLock(kind.Reentrant, "orders", "orders"), other.NewLock(kind.Reentrant, "orders", "orders")
	o := c.NewOwner()
	kept, err := tryAs(&l, o)
	if err != nil {
		t.Fatal(err)
	}
	kept.acknowledged()
	back.keep()
	gone, err := tryAs(&l, o)
	if err != nil {
		t.Fatal(err)
	}
	unlock(t, gone)
	unlock(t, kept)
	back.setBack()
	repeated(t, c)
	becomes(t, conn, 0, "EXISTS", "orders")
	if _, err := tryAs(&lo, o); err != nil {
		t.Fatal(err)
	}
	repeated(t, c)
	becomes(t, conn, 1, "HEXISTS", "orders", o.String())
}

// backAgain has the server have again what an unlock deleted, as if it had not run.
func backAgain(t *testing.T, conn redis.Conn, h *Hold) {
	t.Helper()
	do(t, conn, "HSET", h.l.key, h.st.owner.String(), 1)
}

// Whoever waits is woken by the repetition.
func TestUnlockIsSentAgainBehindALostConnection(t *testing.T) {
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := openReplaced(t, s)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := acquire(t, &l)
	unlock(t, h)
	backAgain(t, conn, h)
	other := open(t, s)
	lo := other.NewLock(kind.Reentrant, "orders", "orders")
	ended := make(chan outcome, 1)
	refused(t, wait(t.Context(), t, &lo, 0, ended, Terms{}), 1)
	if do(t, conn, "CLIENT", "KILL", "TYPE", "normal") == int64(0) {
		t.Fatal("there was no connection")
	}
	unlock(t, next(t, ended).hold)
}

// Of a crowd of unlocks of one shard too.
func TestUnlocksBeyondThoseUnderWayAreSentAgain(t *testing.T) {
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := openReplaced(t, s)
	var of *shard
	for i, n := 0, 0; n < 3*repeatsAtOnce; i++ {
		name := fmt.Sprint("orders-", i)
		l := c.NewLock(kind.Reentrant, name, name)
		if of == nil {
			of = l.s
		}
		if l.s == of {
			h := acquire(t, &l)
			unlock(t, h)
			backAgain(t, conn, h)
			n++
		}
	}
	repeated(t, c)
	becomes(t, conn, 0, "DBSIZE")
}

// What all replicas have is not remembered, and of which holds that is known.
func TestOnlyWhatNotAllReplicasAcknowledgedIsSentAgain(t *testing.T) {
	t.Parallel()
	c, silence := slowReplicas(t)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	past := func() int {
		defer l.s.enter(mustNotBlock).leave()
		return len(l.s.past)
	}
	for end := time.Now().Add(2 * soon); ; { // WAIT lasts a second
		before := past()
		h := acquire(t, &l)
		if unlock(t, h); h.everywhere && past() == before {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("all acknowledge: the acquire %t, and %d unlocks are remembered", h.everywhere, past()-before)
		}
	}
	silence()
	before := past()
	h := acquire(t, &l)
	if unlock(t, h); h.everywhere || past() != before+1 {
		t.Errorf("one is silent: the acquire %t, and %d unlocks are remembered", h.everywhere, past()-before)
	}
}

// ahead is a clock that leaps.
type ahead struct {
	clock.Clock
	by atomic.Int64
}

func (c *ahead) Now() time.Duration { return c.Clock.Now() + time.Duration(c.by.Load()) }

func TestOldUnlocksAreNotSentAgain(t *testing.T) {
	s := redistest.Start(t)
	conn := s.Dial(t)
	now := &ahead{Clock: clock.System()}
	o := config()
	o.Replicas, o.Clock = true, now
	c := openWith(t, s, o)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := acquire(t, &l)
	unlock(t, h)
	backAgain(t, conn, h)
	now.by.Store(int64(repeatedFor + time.Second))
	repeated(t, c)
	becomes(t, conn, 1, "EXISTS", "orders")
}

// Once its latch has expired, an unlock could release what another process has acquired as the owner since.
func TestUnlocksAreNotSentAgainAfterTheirLatch(t *testing.T) {
	s := redistest.Start(t)
	conn := s.Dial(t)
	now := &ahead{Clock: clock.System()}
	o := config()
	o.Replicas, o.Clock = true, now
	c := openWith(t, s, o)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	owner := c.NewOwner()
	h, err := tryAs(&l, owner)
	if err != nil {
		t.Fatal(err)
	}
	h.acknowledged()
	unlock(t, h)
	latches, err := redis.Strings(conn.Do("KEYS", "redisson_unlock_latch:*"))
	if err != nil || len(latches) != 1 {
		t.Fatalf("latches that were left: %v, %v", latches, err)
	}
	do(t, conn, "DEL", latches[0])
	do(t, conn, "HSET", "orders", owner.Share(), 1) // by another process
	now.by.Store(int64(c.unlockFor))
	repeated(t, c)
	becomes(t, conn, 1, "EXISTS", "orders")
}

// How long a hold is everywhere is the lease that its acquire set, as long as nothing else has set one.
func TestHoldIsEverywhereForTheLeaseOfItsAcquire(t *testing.T) {
	s := redistest.Start(t)
	c := openReplaced(t, s)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	for what, row := range map[string]struct {
		acknowledged, extended bool
		lease, want            time.Duration
	}{
		"unacknowledged": {false, false, 0, 0},
		"watched":        {true, false, 0, c.o.Watchdog},
		"fixed":          {true, false, time.Second, time.Second},
		"extended":       {true, true, time.Second, 0},
	} {
		t.Run(what, func(t *testing.T) {
			w := l.NewWaiter()
			w.Terms.Lease = row.lease
			if err := w.Start(); err != nil {
				t.Fatal(err)
			}
			h, err := w.Result(t.Context(), w.Await(t.Context()))
			if err != nil {
				t.Fatal(err)
			}
			defer unlock(t, h)
			if row.acknowledged {
				h.acknowledged()
			}
			if row.extended {
				if err := h.Extend(t.Context(), time.Minute); err != nil {
					t.Fatal(err)
				}
			}
			want := row.want
			if want > 0 {
				want = watchdog.Trust(h.since, want)
			}
			if got := h.heldEverywhere(); got != want {
				t.Errorf("until %v, want %v", got, want)
			}
		})
	}
}

// A renewal that all replicas acknowledged follows the acquire on each of them.
func TestHoldIsEverywhereForTheLeaseOfItsRenewal(t *testing.T) {
	redistest.Slow(t, "waits for renewals")
	t.Parallel()
	c, silence := slowReplicas(t, func(o *Config) { o.Watchdog = 5 * time.Second })
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := acquire(t, &l)
	read := func() (renewed, until time.Duration) {
		defer l.s.enter(mustNotBlock).leave()
		h.everywhere, h.st.marked = false, true // as if not all had acknowledged the acquire
		return h.st.ensureExtras().everywhere, h.heldEverywhere()
	}
	next := func(what string, state func() bool) {
		t.Helper()
		for end := time.Now().Add(5 * soon); !state(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("never:", what)
			}
		}
	}
	next("renewed on all replicas", func() bool { renewed, _ := read(); return renewed > h.since })
	if renewed, until := read(); until != watchdog.Trust(renewed, c.o.Watchdog) {
		t.Errorf("until %v after a renewal at %v", until, renewed)
	}
	silence()
	moved := func() {
		t.Helper()
		before := h.ValidUntil()
		next("renewed on one replica", func() bool { return h.Err() != nil || h.ValidUntil().After(before.Add(c.o.Watchdog/6)) })
		if err := h.Err(); err != nil {
			t.Fatal(err)
		}
	}
	moved() // a renewal may have been under way
	before, _ := read()
	moved()
	moved() // by then the one before has ended
	if after, _ := read(); after != before {
		t.Errorf("a renewal that one of two replicas acknowledged counts as everywhere")
	}
}

// What is remembered is bounded, in time and in number.
func TestPastUnlocksAreBounded(t *testing.T) {
	for what, row := range map[string]struct {
		every time.Duration // between two unlocks of a shard
		busy  int           // how many shards before have had as many
		want  int
	}{
		"slowly":                   {time.Second, 0, int(repeatedFor / time.Second)},
		"within a moment":          {time.Millisecond, 0, maxPast},
		"where others are as busy": {time.Millisecond, 2 * sharedPast / maxPast, ownPast},
	} {
		t.Run(what, func(t *testing.T) {
			l := &Lock{c: new(State)}
			var s shard
			at := time.Hour
			for range row.busy + 1 {
				s = shard{}
				for range 2 * maxPast {
					at += row.every
					s.addPast(pastUnlock{l: l, sent: at})
				}
			}
			newest := 0
			for _, u := range s.past {
				if u.sent > at-time.Duration(row.want)*row.every {
					newest++
				}
			}
			if len(s.past) != row.want || newest != row.want {
				t.Errorf("%d remembered, %d of them the newest; want %d", len(s.past), newest, row.want)
			}
		})
	}
	if most := (shardCount*ownPast + sharedPast) * unsafe.Sizeof(pastUnlock{}); most > 2_650_000 {
		t.Errorf("a client remembers %d bytes, and docs/dev/protocol.md says 2.6 MB", most)
	}
}

// Repetitions wait for a server, but Close does not wait for them for as long as a lease.
func TestCloseDoesNotWaitForRepetitions(t *testing.T) {
	s := redistest.Start(t)
	o := config()
	o.Replicas, o.Timeout = true, 200*time.Millisecond
	c := openWith(t, s, o)
	for i := range 10 {
		l := c.NewLock(kind.Reentrant, fmt.Sprint("orders-", i), fmt.Sprint("orders-", i))
		unlock(t, acquire(t, &l))
	}
	s.Kill()
	c.repeatUnlocks(topology.AllSlots)
	if !c.repeatsLeft() {
		t.Fatal("nothing is sent again")
	}
	began := time.Now()
	c.Close()
	if took := time.Since(began); took > o.Watchdog/2 {
		t.Errorf("Close took %v", took)
	}
	if timers, commands := c.UnderWay(); timers+commands > 0 {
		t.Errorf("%d timers, %d commands are left", timers, commands)
	}
}
