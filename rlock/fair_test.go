package rlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/monitor"
	"github.com/rlock-go/redisson/internal/redistest"
)

// fairQueue is the queue of a fair lock as a server has it.
type fairQueue struct {
	t    *testing.T
	conn redis.Conn
	name string
}

func (q fairQueue) owners() []string {
	q.t.Helper()
	all, err := redis.Strings(q.conn.Do("LRANGE", codec.FairQueue(q.name), 0, -1))
	if err != nil {
		q.t.Fatal(err)
	}
	return all
}

// long waits until so many have a place.
func (q fairQueue) long(n int) []string {
	q.t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(time.Millisecond) {
		all := q.owners()
		if len(all) == n {
			return all
		}
		if time.Now().After(end) {
			q.t.Fatalf("%d have a place, not %d", len(all), n)
		}
	}
}

// listening waits until so many owners listen, each on its channel.
func (q fairQueue) listening(n int) {
	q.t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(time.Millisecond) {
		all, err := redis.Strings(q.conn.Do("PUBSUB", "CHANNELS", codec.Channel(q.name)+":*"))
		if err != nil || time.Now().After(end) {
			q.t.Fatalf("%d listen, not %d: %v", len(all), n, err)
		}
		if len(all) == n {
			return
		}
	}
}

// keeps is for how long an owner keeps its place.
func (q fairQueue) keeps(owner string) time.Duration {
	q.t.Helper()
	till, err := redis.String(q.conn.Do("ZSCORE", codec.FairTimes(q.name), owner))
	if err != nil {
		q.t.Fatal(err)
	}
	ms, err := strconv.ParseInt(till, 10, 64)
	if err != nil {
		q.t.Fatal(err)
	}
	return time.Until(time.UnixMilli(ms))
}

// gone demands that nothing of the lock is left, but latches.
func (q fairQueue) gone() {
	q.t.Helper()
	left, err := redis.Int(q.conn.Do("EXISTS", q.name, codec.FairQueue(q.name), codec.FairTimes(q.name)))
	if err != nil || left != 0 {
		q.t.Errorf("%d keys are left, %v", left, err)
	}
}

// stranger puts an owner into the queue who never comes, for d.
func (q fairQueue) stranger(d time.Duration) string {
	q.t.Helper()
	owner := "550e8400-e29b-41d4-a716-446655440000:31"
	_, err := q.conn.Do("RPUSH", codec.FairQueue(q.name), owner)
	if err == nil {
		_, err = q.conn.Do("ZADD", codec.FairTimes(q.name), time.Now().Add(d).UnixMilli(), owner)
	}
	if err != nil {
		q.t.Fatal(err)
	}
	return owner
}

// result is how a wait ended.
type result struct {
	who int
	h   *Hold
	err error
	at  time.Time
}

// fairWaits starts a waiter and returns when it has the n-th place.
func fairWaits(ctx context.Context, q fairQueue, l *Lock, n, who int, ended chan<- result, opts ...AcquireOption) {
	q.t.Helper()
	go func() {
		h, err := l.Lock(ctx, opts...)
		ended <- result{who, h, err, time.Now()}
	}()
	q.long(n)
}

// next is the next wait that ends, with a hold.
func nextOf(t *testing.T, ended <-chan result) result {
	t.Helper()
	select {
	case r := <-ended:
		if r.err != nil {
			t.Fatalf("%d: %v", r.who, r.err)
		}
		return r
	case <-time.After(2 * soon):
		t.Fatal("nobody enters")
	}
	panic("unreachable")
}

func TestFairLockGoesToWhoeverWaitsLongest(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	for name, clients := range map[string][]*Client{"one client": {a}, "two clients": {a, b}} {
		q := fairQueue{t, s.Dial(t), name}
		var locks []*Lock
		for _, c := range clients {
			locks = append(locks, c.NewFairLock(name))
		}
		h := lockOf(t, locks[0])
		ended := make(chan result, 12)
		for i := range 12 {
			// Some wait with a limit: that makes no difference to the order.
			opts := [][]AcquireOption{nil, {Wait(time.Hour)}, {Lease(time.Minute)}}[i%3]
			fairWaits(t.Context(), q, locks[i%len(locks)], i+1, i, ended, opts...)
		}
		began := time.Now()
		for i := range 12 {
			unlock(t, h)
			r := nextOf(t, ended)
			if r.who != i {
				t.Fatalf("%s: %d entered in the place of %d", name, r.who, i)
			}
			h = r.h
		}
		unlock(t, h)
		if took := time.Since(began); took > soon {
			t.Errorf("%s: 12 hand-offs took %v", name, took)
		}
		q.gone()
	}
}

func TestFairLockIsNotTakenFromWhoeverWaits(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l := c.NewFairLock("orders")
	q := fairQueue{t, s.Dial(t), "orders"}
	q.stranger(time.Hour)
	if _, err := l.TryLock(t.Context()); !errors.Is(err, ErrLocked) {
		t.Errorf("another's turn: %v", err)
	}
	if _, err := l.TryLockFor(t.Context(), 50*time.Millisecond); !errors.Is(err, ErrLocked) {
		t.Errorf("another's turn, with a wait: %v", err)
	}
	q.long(1)
}

func TestFairWaiterThatGivesUpLeavesAtOnce(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	q := fairQueue{t, s.Dial(t), "orders"}
	h := lockOf(t, a.NewFairLock("orders"), Lease(time.Minute))
	gaveUp := make(chan result, 3)
	cancelled, cancel := context.WithCancel(t.Context())
	fairWaits(cancelled, q, a.NewFairLock("orders"), 1, 0, gaveUp)
	fairWaits(t.Context(), q, b.NewFairLock("orders"), 2, 1, gaveUp)
	timed := make(chan result, 1)
	fairWaits(t.Context(), q, a.NewFairLock("orders"), 3, 2, timed, Wait(time.Second))
	entered := make(chan result, 1)
	fairWaits(t.Context(), q, a.NewFairLock("orders"), 4, 3, entered, Wait(time.Hour))
	last := q.owners()[3]
	before := q.keeps(last)
	// The lease, each wait before it, and its own.
	if want := time.Minute + 2*5*time.Minute + time.Second + time.Hour; before > want || before < want-10*time.Second {
		t.Errorf("the last keeps its place for %v, want %v", before, want)
	}
	shorter := func(d time.Duration) {
		t.Helper()
		now := q.keeps(last)
		if less := before - now; less < d || less > d+10*time.Second {
			t.Errorf("the place is kept for %v less, want %v", less, d)
		}
		before = now
	}
	cancel()
	if r := <-gaveUp; !errors.Is(r.err, context.Canceled) {
		t.Errorf("cancelled: %v", r.err)
	}
	q.long(3)
	shorter(5 * time.Minute)
	if r := <-timed; !errors.Is(r.err, ErrLocked) {
		t.Errorf("its time is over: %v", r.err)
	}
	q.long(2)
	shorter(time.Second)
	b.Close()
	if r := <-gaveUp; !errors.Is(r.err, ErrClosed) {
		t.Errorf("closed: %v", r.err)
	}
	q.long(1)
	shorter(5 * time.Minute)
	began := time.Now()
	unlock(t, h)
	r := nextOf(t, entered)
	if took := r.at.Sub(began); took > soon {
		t.Errorf("it entered after %v", took)
	}
	unlock(t, r.h)
	q.gone()
}

// The head is woken by the release, and gives up at the same time: the next one hears of it.
func TestFairHeadThatGivesUpHandsItsWakeUpOn(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	q := fairQueue{t, s.Dial(t), "orders"}
	la, lb := a.NewFairLock("orders"), b.NewFairLock("orders")
	for range 30 {
		h := lockOf(t, la)
		ctx, cancel := context.WithCancel(t.Context())
		first, second := make(chan result, 1), make(chan result, 1)
		fairWaits(ctx, q, la, 1, 0, first)
		fairWaits(t.Context(), q, lb, 2, 1, second)
		began := time.Now()
		go cancel()
		unlock(t, h)
		if r := <-first; r.err == nil {
			unlock(t, r.h)
		}
		r := nextOf(t, second)
		if took := r.at.Sub(began); took > soon {
			t.Fatalf("it entered after %v", took)
		}
		unlock(t, r.h)
		q.gone()
	}
}

// A place is lost when its time is over. Its waiter, who lives, queues again.
func TestFairPlaceIsLostAfterItsTimeAndTakenAnew(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "places are lost")
	s := redistest.Start(t)
	short, other := open(t, s, WithFairWait(300*time.Millisecond)), open(t, s)
	q := fairQueue{t, s.Dial(t), "orders"}
	h := lockOf(t, other.NewFairLock("orders"), Lease(time.Second))
	ended := make(chan result, 2)
	fairWaits(t.Context(), q, short.NewFairLock("orders"), 1, 0, ended)
	fairWaits(t.Context(), q, other.NewFairLock("orders"), 2, 1, ended)
	places := q.owners()
	if err := h.Extend(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	// It looks at the end of the lease that it was told of, and finds its place lost some time later.
	for end := time.Now().Add(4 * soon); !slices.Equal(q.owners(), []string{places[1], places[0]}); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the queue was %q and is %q", places, q.owners())
		}
	}
	unlock(t, h)
	for _, who := range []int{1, 0} {
		r := nextOf(t, ended)
		if r.who != who {
			t.Fatalf("%d entered", r.who)
		}
		unlock(t, r.h)
	}
	q.gone()
}

// Nobody told the head that the lock is free. Whoever comes tells it.
func TestWhoFindsAFairLockFreeTellsTheHead(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	q := fairQueue{t, s.Dial(t), "orders"}
	owner := q.stranger(time.Hour)
	sub := redis.PubSubConn{Conn: s.Dial(t)}
	if err := sub.Subscribe(codec.FairChannel("orders", owner)); err != nil {
		t.Fatal(err)
	}
	sub.Receive()
	tap := monitor.Tap(t, s.URL())
	ended := make(chan result, 1)
	fairWaits(t.Context(), q, c.NewFairLock("orders"), 2, 0, ended)
	began := time.Now()
	for i := range 4 {
		m, ok := sub.ReceiveWithTimeout(2 * soon).(redis.Message)
		if !ok || string(m.Data) != "0" {
			t.Fatalf("message %d: %v", i, m)
		}
	}
	// The first came with the place, the second with the subscription; then there are pauses.
	if took := time.Since(began); took < soon || took > 12*time.Second {
		t.Errorf("the pauses were %v together", took)
	}
	tries := 0
	for _, line := range tap.Mark() {
		if line.Is("EVALSHA") && line.Args[1] == luasrc.FairLockScript.SHA1 {
			tries++
		}
	}
	if tries > 5 {
		t.Errorf("%d tries for a lock that is another's to take", tries)
	}
	// The head is removed, and nobody says so.
	if _, err := q.conn.Do("DEL", codec.FairQueue("orders"), codec.FairTimes("orders")); err != nil {
		t.Fatal(err)
	}
	unlock(t, nextOf(t, ended).h)
	q.gone()
}

func TestFairHeadEntersWhenTheLeaseEnds(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	q := fairQueue{t, s.Dial(t), "orders"}
	lockOf(t, c.NewFairLock("orders"), Lease(time.Second))
	began := time.Now()
	ended := make(chan result, 1)
	fairWaits(t.Context(), q, c.NewFairLock("orders"), 1, 0, ended)
	r := nextOf(t, ended)
	if took := r.at.Sub(began); took > 2*time.Second {
		t.Errorf("it entered after %v", took)
	}
	unlock(t, r.h)
	q.gone()
}

func TestFairUnlockThatFindsNothingWakesTheHead(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	for name, end := range map[string]func(*Lock, *Hold) error{
		"unlock": func(_ *Lock, h *Hold) error { return h.Unlock(context.Background()) },
		"UnlockAs": func(l *Lock, _ *Hold) error {
			return l.UnlockAs(context.Background(), b.NewOwner())
		},
	} {
		q := fairQueue{t, s.Dial(t), name}
		la, lb := a.NewFairLock(name), b.NewFairLock(name)
		h := lockOf(t, la)
		ended := make(chan result, 1)
		fairWaits(t.Context(), q, lb, 1, 0, ended)
		q.listening(1)
		time.Sleep(100 * time.Millisecond) // its second try is over
		if _, err := q.conn.Do("DEL", name); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := end(la, h); !errors.Is(err, ErrNotHeld) {
			t.Errorf("%s: %v", name, err)
		}
		r := nextOf(t, ended)
		if took := r.at.Sub(began); took > time.Second {
			t.Errorf("%s: it entered after %v", name, took)
		}
		unlock(t, r.h)
		q.gone()
	}
}

func TestFairForceUnlockWakesTheHead(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	q := fairQueue{t, s.Dial(t), "orders"}
	h := lockOf(t, a.NewFairLock("orders"))
	ended := make(chan result, 2)
	fairWaits(t.Context(), q, a.NewFairLock("orders"), 1, 0, ended)
	fairWaits(t.Context(), q, b.NewFairLock("orders"), 2, 1, ended)
	if forced, err := b.NewFairLock("orders").ForceUnlock(t.Context()); !forced || err != nil {
		t.Fatalf("forced %v, %v", forced, err)
	}
	for i := range 2 {
		r := nextOf(t, ended)
		if r.who != i {
			t.Errorf("%d entered in the place of %d", r.who, i)
		}
		unlock(t, r.h)
	}
	if err := h.Unlock(t.Context()); !errors.Is(err, ErrNotHeld) {
		t.Errorf("forced, and unlocked with %v", err)
	}
	q.gone()
}

func TestFairReentryPassesTheQueue(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	q := fairQueue{t, s.Dial(t), "orders"}
	la, lb := a.NewFairLock("orders"), b.NewFairLock("orders")
	outer := lockOf(t, la, Lease(time.Minute))
	ended := make(chan result, 1)
	fairWaits(t.Context(), q, lb, 1, 0, ended)
	inner := lockOf(t, la, As(outer.Owner()), Lease(time.Second))
	counts(t, la, outer.Owner(), 2)
	unlock(t, inner)
	if ttl, err := la.RemainTTL(t.Context()); err != nil || ttl < 50*time.Second {
		t.Errorf("what is left has %v, %v", ttl, err)
	}
	q.long(1)
	unlock(t, outer)
	unlock(t, nextOf(t, ended).h)
	q.gone()
}

// Two callers wait as one owner. There is one place, and its time is reckoned with once, whichever acquires.
func TestCallersOfOneOwnerShareAPlace(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	q := fairQueue{t, s.Dial(t), "orders"}
	l := c.NewFairLock("orders")
	h := lockOf(t, l, Lease(time.Minute))
	o := c.NewOwner()
	both, last := make(chan result, 2), make(chan result, 1)
	ctx, cancel := context.WithCancel(t.Context())
	fairWaits(ctx, q, l, 1, 0, both, As(o), Wait(10*time.Minute))
	fairWaits(t.Context(), q, l, 1, 1, both, As(o), Wait(time.Hour))
	fairWaits(t.Context(), q, l, 2, 2, last, Wait(time.Hour))
	q.listening(2)
	time.Sleep(100 * time.Millisecond) // the second caller was refused as well
	cancel()
	if r := <-both; r.who != 0 || !errors.Is(r.err, context.Canceled) {
		t.Fatalf("%d: %v", r.who, r.err)
	}
	q.long(2)
	owner := q.owners()[1]
	if left := q.keeps(owner); left > 71*time.Minute || left < 70*time.Minute {
		t.Errorf("the last keeps its place for %v", left)
	}
	unlock(t, h)
	h = nextOf(t, both).h
	if left := q.keeps(owner); left > 61*time.Minute || left < 60*time.Minute {
		t.Errorf("the last keeps its place for %v, when nobody is before it", left)
	}
	unlock(t, h)
	unlock(t, nextOf(t, last).h)
	q.gone()
}

func TestInfoCountsThePlacesOfAFairLock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	q := fairQueue{t, s.Dial(t), "orders"}
	l := c.NewFairLock("orders")
	h := lockOf(t, l)
	q.stranger(time.Hour)
	q.stranger(time.Hour)
	i, err := l.Info(t.Context())
	if err != nil || i.Waiters != 2 || i.Owner != h.Owner() || i.Count != 1 {
		t.Errorf("%+v, %v", i, err)
	}
	unlock(t, h)
}

func TestFairWaitMustBeAMillisecond(t *testing.T) {
	s := redistest.Start(t)
	for _, opts := range [][]Option{{WithFairWait(0)}, {WithFairWait(-1)}, {WithFairWait(time.Millisecond - 1)}, {WithFairWait(time.Hour), WithFairWait(time.Hour)}} {
		if _, err := Open(t.Context(), s.URL(), opts...); !errors.Is(err, ErrInvalidOption) {
			t.Error(err)
		}
	}
	q := fairQueue{t, s.Dial(t), "orders"}
	c := open(t, s, WithFairWait(time.Hour))
	h := lockOf(t, c.NewFairLock("orders"), Lease(time.Minute))
	ended := make(chan result, 1)
	fairWaits(t.Context(), q, c.NewFairLock("orders"), 1, 0, ended)
	if left := q.keeps(q.owners()[0]); left > 61*time.Minute || left < 60*time.Minute {
		t.Errorf("a place is kept for %v", left)
	}
	unlock(t, h)
	unlock(t, nextOf(t, ended).h)
}

func TestFairLockLeavesAKeyOfAnotherTypeAlone(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	l := open(t, s).NewFairLock("orders")
	conn := s.Dial(t)
	if _, err := conn.Do("SET", "orders", "text"); err != nil {
		t.Fatal(err)
	}
	_, locked := l.Lock(t.Context())
	_, tried := l.TryLock(t.Context())
	_, forced := l.ForceUnlock(t.Context())
	for what, err := range map[string]error{"Lock": locked, "TryLock": tried, "ForceUnlock": forced} {
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if keys, err := redis.Strings(conn.Do("KEYS", "*")); err != nil || fmt.Sprint(keys) != "[orders]" {
		t.Errorf("the keys are %q, %v", keys, err)
	}
}

// Whose turn it is, is known by the server. Nobody else here tries, however many wait.
func TestFairHandOffCostsTheSameHoweverManyWait(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l := c.NewFairLock("orders")
	q := fairQueue{t, s.Dial(t), "orders"}
	h := lockOf(t, l)
	const waiters = 100
	ended := make(chan result, waiters)
	for i := range waiters {
		fairWaits(t.Context(), q, l, i+1, i, ended)
	}
	q.listening(waiters)
	time.Sleep(200 * time.Millisecond) // the last was refused twice
	tap := monitor.Tap(t, s.URL())
	tried := func() (n int) {
		for _, line := range tap.Mark() {
			if line.Is("EVALSHA") && line.Args[1] == luasrc.FairLockScript.SHA1 {
				n++
			}
		}
		return n
	}
	for i := range 3 {
		unlock(t, h)
		h = nextOf(t, ended).h
		if n := tried(); n != 1 {
			t.Errorf("%d tries for one hand-off", n)
		}
		if i == 1 { // the key vanishes: the unlock finds nothing
			if _, err := q.conn.Do("DEL", "orders"); err != nil {
				t.Fatal(err)
			}
			if err := h.Unlock(t.Context()); !errors.Is(err, ErrNotHeld) {
				t.Error(err)
			}
			h = nextOf(t, ended).h
			if n := tried(); n != 1 {
				t.Errorf("%d tries behind an unlock that found nothing", n)
			}
		}
	}
	c.Close()
	q.long(0)
}

// One name is to be used with one kind of lock.
func TestPlainLockTakesNoNoticeOfAFairQueue(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	q := fairQueue{t, s.Dial(t), "orders"}
	q.stranger(time.Hour)
	h, err := c.NewLock("orders").TryLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	unlock(t, h)
	q.long(1)
}
