package locks

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestClosedClientIsForgotten(t *testing.T) {
	c, err := New(config())
	if err != nil {
		t.Fatal(err)
	}
	if known, _ := openClients.Load(c.ID); known != c {
		t.Error("it is not known")
	}
	c.Close()
	if known, _ := openClients.Load(c.ID); known != nil {
		t.Error("it is remembered")
	}
}

// A client knows its owners without a search, however many it has handed out since.
func TestOwnerThatWasHandedOutIsNotLookedFor(t *testing.T) {
	c := open(t, redistest.Start(t))
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	var owners []Owner
	for range 300 {
		h := mustAcquire(t, &l)
		owners = append(owners, h.Owner())
		mustUnlock(t, h)
	}
	for i := range c.shards {
		c.shards[i].enter(mustNotBlock) // so that a search blocks
	}
	acted := make(chan error, 1)
	go func() {
		for _, o := range owners {
			if err := l.MayAct(o); err != nil {
				acted <- err
				return
			}
		}
		acted <- nil
	}()
	select {
	case err := <-acted:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(2 * soon):
		t.Error("it looks for an owner")
	}
	for i := range c.shards {
		c.shards[i].leave()
	}
}

// Two unlocks of one owner were lost, one after the other, and connections can't be killed.
func TestR4OwnerMayActAgainWhenNothingCanArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(config())
		if err != nil {
			t.Fatal(err)
		}
		l := c.NewLock(kind.Reentrant, "orders", "orders")
		o := c.NewOwner()
		if err := l.MayAct(o); err != nil {
			t.Fatal(err)
		}
		c.stray(o)
		time.Sleep(c.lateFor() / 2)
		c.stray(o)
		for _, after := range []time.Duration{0, c.lateFor()*3/4 - time.Millisecond} {
			if time.Sleep(after); !errors.Is(l.MayAct(o), ErrUncertain) {
				t.Errorf("it acts while an unlock of it may arrive: %v after the last", after)
			}
		}
		time.Sleep(c.lateFor() / 2)
		if err := l.MayAct(o); err != nil {
			t.Error(err)
		}
		c.Close()
	})
}
