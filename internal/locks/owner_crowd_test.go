package locks

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// A caller whose only attempt is refused leaves without a search, and makes one owner state.
func TestRefusedCallerLeavesInOneStep(t *testing.T) {
	const crowd = 100
	s := redistest.Start(t)
	o := config()
	var mu sync.Mutex
	made := 0
	o.NewState = func() (*OwnerState, *Hold) {
		mu.Lock()
		defer mu.Unlock()
		made++
		return new(OwnerState), new(Hold)
	}
	c := openWith(t, s, o)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := mustAcquire(t, &l)
	for _, as := range []bool{false, true} {
		before := made
		// This waiter has no caller: a search of the waiters would panic at it.
		sec := l.shard.enter(mustNotBlock)
		q := l.shard.names[l.nameKey].ensureQueue(&l, Owner{})
		nobody := new(waitqueue.Waiter)
		q.JoinUnqueued(sec.Now(), nobody)
		for q.Next(sec.Now()).Do != waitqueue.Nothing {
		}
		sec.leave()
		var callers sync.WaitGroup
		for range crowd {
			w := NewWaiter(&l)
			if as {
				w.Terms = Terms{As: true, Owner: c.NewOwner()}
			}
			w.Terms.HasWait = true // a wait of 0: one attempt
			callers.Go(func() {
				err := w.Start()
				if err == nil {
					_, err = w.Result(context.Background(), w.Await(context.Background()))
				}
				if !errors.Is(err, ErrLocked) {
					t.Errorf("as an owner: %v; %v", as, err)
				}
			})
		}
		callers.Wait()
		if made-before != crowd {
			t.Errorf("as an owner: %v; %d callers made %d owners' states", as, crowd, made-before)
		}
		sec = l.shard.enter(mustNotBlock)
		q.Leave(nobody)
		l.shard.names[l.nameKey].step()
		sec.leave()
	}
	mustUnlock(t, h)
}

// A grant ends the holds of others that this client still has. It searches for them only if there are any: where many
// callers hand a lock on, each grant would otherwise look at every owner.
func TestGrantLooksForOtherHoldersOnlyIfThereAreAny(t *testing.T) {
	s := redistest.Start(t)
	c := open(t, s)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	seen := mustAcquire(t, &l)
	count := func(more int32) {
		defer l.shard.enter(mustNotBlock).leave()
		seen.state.name.holders += more
	}
	count(-1) // it is no longer counted as a holder, so only a search finds it
	do(t, s.Dial(t), "DEL", "orders")
	for range 3 {
		mustUnlock(t, mustAcquire(t, &l))
	}
	count(1)
	if err := seen.Err(); err != nil {
		t.Errorf("a grant looked for other holders, of whom there were none: %v", err)
	}
}
