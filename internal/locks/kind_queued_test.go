package locks

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// queued is a kind whose waiters stand in a list on the server. Each owner has its own channel.
type queued struct{ kind.Kind }

var queuedKind kind.Kind = queued{kind.Reentrant}

var queuedTraits = kind.Traits{Family: "queued", ByOwner: true, Width: 1, KeyType: "hash", RenewGroup: "owned hash", Latched: true}

var (
	queuedLock = script("queued_lock", `
		local head = redis.call('lindex', KEYS[2], 0)
		if redis.call('exists', KEYS[1]) == 0 and (not head or head == ARGV[2]) then
			redis.call('lpop', KEYS[2])
			redis.call('hset', KEYS[1], ARGV[2], 1)
			redis.call('pexpire', KEYS[1], ARGV[1])
			return nil
		end
		if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
			redis.call('hincrby', KEYS[1], ARGV[2], 1)
			redis.call('pexpire', KEYS[1], ARGV[1])
			return nil
		end
		if redis.call('exists', KEYS[1]) == 0 then redis.call(ARGV[3], KEYS[1] .. ':' .. head, '0') end
		if not redis.call('lpos', KEYS[2], ARGV[2]) then redis.call('rpush', KEYS[2], ARGV[2]) end
		return redis.call('pttl', KEYS[1])`)
	queuedUnlock = script("queued_unlock", taken+`
		local earlier = KEYS[3] and redis.call('get', KEYS[3])
		if earlier then return tonumber(earlier) end
		if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
		local result = 0
		if redis.call('hincrby', KEYS[1], ARGV[2], -taken(redis.call('hget', KEYS[1], ARGV[2]), 4)) > 0 then
			redis.call('pexpire', KEYS[1], ARGV[1])
		else
			redis.call('del', KEYS[1])
			local head = redis.call('lindex', KEYS[2], 0)
			if head then redis.call('publish', KEYS[1] .. ':' .. head, '0') end
			result = 1
		end
		if KEYS[3] then redis.call('set', KEYS[3], result, 'px', ARGV[3]) end
		return result`)
	queuedLeave = script("queued_leave", `
		for _, owner in ipairs(ARGV) do redis.call('lrem', KEYS[2], 0, owner) end
		local head = redis.call('lindex', KEYS[2], 0)
		if head and redis.call('exists', KEYS[1]) == 0 then redis.call('publish', KEYS[1] .. ':' .. head, '0') end
		return 1`)
)

func (queued) Traits() *kind.Traits { return &queuedTraits }

func (queued) Names(key string) kind.Names { return kind.Names{key, key + ":queue"} }

func (queued) Channel(n *kind.Names, o kind.Owner) string { return n.Key() + ":" + o.String() }

func (queued) Acquire(_ []any, w *kind.Want) kind.Call {
	return run(queuedLock, kind.Never, w.Names[:2], w.Lease, w.Owner, w.Publish)
}

func (queued) Release(_ []any, w *kind.Want) kind.Call {
	return run(queuedUnlock, kind.Always, withLatch(w), append([]any{w.Lease, w.Owner, w.LatchTTL}, left(w)...)...)
}

func (queued) Leave(all ...*kind.Want) kind.Call {
	var owners []any
	for _, w := range all {
		owners = append(owners, w.Owner)
	}
	return run(queuedLeave, kind.Always, all[0].Names[:2], owners...)
}

func TestServersQueueIsKeptInOrderAcrossClients(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	a, b := open(t, s), open(t, s)
	la, lb := a.NewLock(queuedKind, "q", "q"), b.NewLock(queuedKind, "q", "q")
	h := mustAcquire(t, &la)
	ended := make(chan outcome, 6)
	for i := range 6 {
		l := []*Lock{&la, &lb}[i%2]
		wait(t.Context(), t, l, i, ended, Terms{})
		becomes(t, conn, int64(i+1), "LLEN", "q:queue")
	}
	for i := range 6 {
		mustUnlock(t, h)
		o := next(t, ended)
		if o.who != i {
			t.Fatalf("%d entered in the place of %d", o.who, i)
		}
		h = o.hold
	}
	mustUnlock(t, h)
	becomes(t, conn, 0, "EXISTS", "q", "q:queue")
}

func TestWaiterThatGivesUpLeavesTheServersQueue(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := open(t, s)
	l := c.NewLock(queuedKind, "q", "q")
	h := mustAcquire(t, &l)
	ended := make(chan outcome, 3)
	ctx, cancel := context.WithCancel(t.Context())
	refused(t, wait(ctx, t, &l, 0, ended, Terms{}), 1)
	becomes(t, conn, 1, "LLEN", "q:queue")
	refused(t, wait(t.Context(), t, &l, 1, ended, Terms{}), 1)
	becomes(t, conn, 2, "LLEN", "q:queue")
	cancel()
	if o := <-ended; !errors.Is(o.err, context.Canceled) {
		t.Fatalf("%v", o.err)
	}
	becomes(t, conn, 1, "LLEN", "q:queue")
	mustUnlock(t, h)
	mustUnlock(t, next(t, ended).hold)
	becomes(t, conn, 0, "EXISTS", "q", "q:queue")
}

func TestOwnerLeavesTheServersQueueWithItsLastWaiter(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := open(t, s)
	l := c.NewLock(queuedKind, "q", "q")
	h := mustAcquire(t, &l)
	ended := make(chan outcome, 2)
	ctx, cancel := context.WithCancel(t.Context())
	as := Terms{As: true, Owner: c.NewOwner()}
	wait(ctx, t, &l, 0, ended, as)
	becomes(t, conn, 1, "LLEN", "q:queue")
	refused(t, wait(t.Context(), t, &l, 1, ended, as), 2)
	none(t, ended)
	cancel()
	<-ended
	none(t, ended)
	becomes(t, conn, 1, "LLEN", "q:queue")
	mustUnlock(t, h)
	mustUnlock(t, next(t, ended).hold)
	becomes(t, conn, 0, "EXISTS", "q", "q:queue")
}

// A caller that leaves hands its owner's place to one that will leave in its turn: not to one that makes a single
// attempt. Its heir leaves the place even if the server never answers it.
func TestPlaceOfASharedOwnerIsLeftByItsLastWaiter(t *testing.T) {
	t.Parallel()
	o := config()
	o.Timeout = time.Minute // no stall ends a connection
	for _, heirs := range []int{0, 1} {
		s := redistest.Start(t)
		conn := s.Dial(t)
		a, b := open(t, s), openWith(t, s, o)
		la, lb := a.NewLock(queuedKind, "q", "q"), b.NewLock(queuedKind, "q", "q")
		h := mustAcquire(t, &la)
		as := Terms{As: true, Owner: b.NewOwner()}
		ended, tried := make(chan outcome, 2), make(chan outcome, 1)
		ctx, cancel := context.WithCancel(t.Context())
		refused(t, wait(ctx, t, &lb, 0, ended, as), 1)
		s.Pause()
		wait(t.Context(), t, &lb, 1, tried, Terms{As: true, Owner: as.Owner, HasWait: true})
		heirCtx, heirCancel := context.WithCancel(t.Context())
		for i := range heirs { // its attempt stays in the command queue, behind the one above
			wait(heirCtx, t, &lb, 2+i, ended, as)
		}
		cancel()
		<-ended
		heirCancel()
		for range heirs {
			<-ended
		}
		s.Resume()
		if o := <-tried; !errors.Is(o.err, ErrLocked) {
			t.Error(o.err)
		}
		becomes(t, conn, 0, "LLEN", "q:queue")
		mustUnlock(t, h)
	}
}

// refused waits until the server has refused w, and w is one of n waiters in its queue. A waiter that gives up before
// its reply leaves the server's queue in another way: through the end of its attempt.
func refused(t *testing.T, w *Waiter, n int) {
	t.Helper()
	redistest.Becomes(t, fmt.Sprint("it is one of ", n, " waiters that were refused"), func() bool {
		now := w.snapshot()
		return now.listening && now.waiting == n && !now.attempt
	})
}

// standsAndListens waits until w has another owner than before, is first on the server, and listens as this owner.
func standsAndListens(t *testing.T, conn redis.Conn, w *Waiter, before Owner) (now Owner) {
	t.Helper()
	redistest.Becomes(t, "it listens as another owner, who is the head", func() bool {
		is := w.snapshot()
		now = is.owner
		listens := is.listening && !is.attempt
		head, _ := do(t, conn, "LINDEX", "q:queue", 0).([]byte)
		if listens {
			listens = do(t, conn, "PUBSUB", "NUMSUB", "q:"+now.String()).([]any)[1] == int64(1)
		}
		return listens && now != before && string(head) == now.String()
	})
	return now
}

func TestLostTryLeavesTheServersQueueAndItsWaiterListensAnew(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	a := open(t, s)
	b, d := openDropping(t, s)
	la, lb := a.NewLock(queuedKind, "q", "q"), b.NewLock(queuedKind, "q", "q")
	h := mustAcquire(t, &la)
	ended := make(chan outcome, 1)
	w := wait(t.Context(), t, &lb, 0, ended, Terms{})
	first := standsAndListens(t, conn, w, Owner{})
	// A message wakes it. Its attempt runs, but the reply is lost.
	d.drop(queuedLock.SHA1)
	do(t, conn, "PUBLISH", "q:"+first.String(), "0")
	// The first owner has left, and its replacement is alone in the queue.
	standsAndListens(t, conn, w, first)
	if d.lost.Load() != 1 {
		t.Fatal("nothing was lost")
	}
	becomes(t, conn, 1, "LLEN", "q:queue")
	mustUnlock(t, h)
	mustUnlock(t, next(t, ended).hold)
	becomes(t, conn, 0, "EXISTS", "q", "q:queue")
}

// silent is a queued kind for which the server can't be asked what an owner holds.
type silent struct{ queued }

func (silent) Ask(kind.Question, *kind.Want) kind.Query { return kind.Query{} }

func TestSharedOwnerWhoseTryWasLostLeavesTheServersQueue(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	a := open(t, s)
	b, d := openDropping(t, s)
	la, lb := a.NewLock(queuedKind, "q", "q"), b.NewLock(silent{queued{kind.Reentrant}}, "q", "q")
	h := mustAcquire(t, &la)
	d.drop(queuedLock.SHA1)
	ended := make(chan outcome, 1)
	as := Terms{Owner: b.NewOwner(), As: true}
	_ = as.Owner.Share()
	wait(t.Context(), t, &lb, 0, ended, as)
	if o := <-ended; !errors.Is(o.err, ErrUncertain) {
		t.Errorf("it ended with %v", o.err)
	}
	if d.lost.Load() != 1 {
		t.Fatal("nothing was lost")
	}
	becomes(t, conn, 0, "LLEN", "q:queue")
	mustUnlock(t, h)
}

func TestWhoFindsTheLockFreeTellsWhoIsFirst(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	a, b := open(t, s), open(t, s)
	la, lb := a.NewLock(queuedKind, "q", "q"), b.NewLock(queuedKind, "q", "q")
	mustAcquire(t, &la)
	ended := make(chan outcome, 1)
	refused(t, wait(t.Context(), t, &lb, 0, ended, Terms{}), 1)
	do(t, conn, "DEL", "q") // without a message
	none(t, ended)
	w := NewWaiter(&la)
	w.Terms.HasWait = true
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Result(t.Context(), w.Await(t.Context())); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	mustUnlock(t, next(t, ended).hold)
}

func TestClosedClientLeavesTheServersQueue(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	a, b := open(t, s), open(t, s)
	la, lb := a.NewLock(queuedKind, "q", "q"), b.NewLock(queuedKind, "q", "q")
	h := mustAcquire(t, &la)
	ended := make(chan outcome, 2)
	for i := range 2 {
		wait(t.Context(), t, &lb, i, ended, Terms{})
	}
	becomes(t, conn, 2, "LLEN", "q:queue")
	b.Close()
	for range 2 {
		if o := <-ended; !errors.Is(o.err, ErrClosed) {
			t.Error(o.err)
		}
	}
	if n := do(t, conn, "LLEN", "q:queue"); n != int64(0) {
		t.Errorf("%v entries are left", n)
	}
	mustUnlock(t, h)
}
