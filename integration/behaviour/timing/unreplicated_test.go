package timing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// synced are objects of a client that waits for replicas. Each call acquires one and gives it back.
type synced struct {
	name   string
	counts bool // what is granted needs all replicas: no lease ends it, or it is never handed out again
	call   func(ctx context.Context, c *rlock.Client) error
}

func syncedLock(name string, counts bool, of func(c *rlock.Client) *rlock.Lock) synced {
	return synced{name, counts, func(ctx context.Context, c *rlock.Client) error {
		h, err := of(c).TryLock(ctx)
		if err != nil {
			return err
		}
		return h.Unlock(ctx)
	}}
}

var syncedObjects = []synced{
	syncedLock("plain", false, func(c *rlock.Client) *rlock.Lock { return c.NewLock("plain") }),
	syncedLock("fair", false, func(c *rlock.Client) *rlock.Lock { return c.NewFairLock("fair") }),
	syncedLock("read", false, func(c *rlock.Client) *rlock.Lock { return c.NewReadWriteLock("doc").ReadLock() }),
	syncedLock("write", false, func(c *rlock.Client) *rlock.Lock { return c.NewReadWriteLock("doc").WriteLock() }),
	syncedLock("fenced", true, func(c *rlock.Client) *rlock.Lock { return c.NewFencedLock("fenced") }),
	{"permits", false, func(ctx context.Context, c *rlock.Client) error {
		p, err := c.NewPermitSemaphore("seats").TryAcquire(ctx, 2)
		if err != nil {
			return err
		}
		return p.Release(ctx)
	}},
	{"semaphore", true, func(ctx context.Context, c *rlock.Client) error {
		if err := c.NewSemaphore("rooms").TryAcquire(ctx, 2); err != nil {
			return err
		}
		return c.NewSemaphore("rooms").Release(ctx, 2)
	}},
}

// keys are those of the server, but for receipts, which stay for a while.
func (s *server) keys() []string {
	all := slices.DeleteFunc(s.rig.Strings("KEYS", "*"), func(key string) bool { return strings.HasPrefix(key, "redisson_unlock_latch:") })
	slices.Sort(all)
	return all
}

// The last of one or two replicas is silent. What nobody has acknowledged is given back, with its keys and its place. What no
// lease ends needs them all. A token that was not granted is used up.
func TestGrantThatNoReplicaHasIsGivenBack(t *testing.T) {
	for _, replicas := range []int{1, 2} {
		for _, of := range syncedObjects {
			t.Run(fmt.Sprint(of.name, ", replicas ", replicas), func(t *testing.T) {
				play(t, func(t *testing.T, s *server) {
					ctx := t.Context()
					s.replicas(replicas)
					c := s.openSynced(t, rlock.WithDialer(s.rig.Dial))
					seats, rooms, fenced := c.NewPermitSemaphore("seats"), c.NewSemaphore("rooms"), c.NewFencedLock("fenced")
					_, e1 := seats.TrySetPermits(ctx, 3)
					_, e2 := rooms.TrySetPermits(ctx, 3)
					if err := errors.Join(e1, e2, of.call(ctx, c)); err != nil {
						t.Fatal(err)
					}
					before := s.keys()
					used, _ := fenced.LastToken(ctx)
					s.last.Pause()
					err := of.call(ctx, c)
					if refused := replicas == 1 || of.counts; refused != errors.Is(err, rlock.ErrUnreplicated) || !refused && err != nil ||
						refused && replicas == 2 && !strings.Contains(err.Error(), "1 of 2 replicas") {
						t.Errorf("%v", err)
					}
					s.last.Resume()
					becomes(t, "it is granted again", func() bool { return of.call(ctx, c) == nil })
					if now, _ := fenced.LastToken(ctx); of.name == "fenced" && now < used+2 {
						t.Errorf("token %d behind %d, of which one was used up", now, used)
					}
					becomes(t, "nothing is left of what was not granted", func() bool {
						free, e1 := seats.Available(ctx)
						room, e2 := rooms.Available(ctx)
						return e1 == nil && e2 == nil && free == 3 && room == 3 && slices.Equal(s.keys(), before)
					})
				})
			})
		}
	}
}

// A change that no replica acknowledges returns an error, and counts once. What changes nothing has nothing to acknowledge.
func TestChangeThatNoReplicaHasCountsOnce(t *testing.T) {
	none := strings.Repeat("0", 32)
	play(t, func(t *testing.T, s *server) {
		ctx := t.Context()
		s.replicas(1)
		c := s.openSynced(t, rlock.WithDialer(s.rig.Dial))
		seats, rooms, latch := c.NewPermitSemaphore("seats"), c.NewSemaphore("rooms"), c.NewCountDownLatch("ready")
		_, e1 := seats.TrySetPermits(ctx, 3)
		_, e2 := rooms.TrySetPermits(ctx, 3)
		_, e3 := latch.TrySetCount(ctx, 3)
		if err := errors.Join(e1, e2, e3); err != nil {
			t.Fatal(err)
		}
		for what, change := range map[string]func() error{
			"AddPermits": func() error { return seats.AddPermits(ctx, 1) },
			"Release":    func() error { return rooms.Release(ctx, 1) },
			"CountDown":  func() error { return latch.CountDown(ctx) },
		} {
			s.last.Pause()
			if err := change(); !errors.Is(err, rlock.ErrUnreplicated) {
				t.Errorf("%s: %v", what, err)
			}
			for what, err := range map[string]error{
				"ReleaseIDs": seats.ReleaseIDs(ctx, none), "SetLease": seats.SetLease(ctx, none, time.Minute),
			} {
				if !errors.Is(err, rlock.ErrNotHeld) || errors.Is(err, rlock.ErrUnreplicated) {
					t.Errorf("%s of a permit that is not taken: %v", what, err)
				}
			}
			if did, err := latch.TrySetCount(ctx, 3); did || err != nil {
				t.Errorf("set again: %t, %v", did, err)
			}
			s.last.Resume()
			time.Sleep(5 * time.Second) // it reports to its master
		}
		total, e1 := seats.Total(ctx)
		free, e2 := rooms.Available(ctx)
		left, e3 := latch.Count(ctx)
		if total != 4 || free != 4 || left != 2 || errors.Join(e1, e2, e3) != nil {
			t.Errorf("%d permits, %d rooms, a count of %d: %v", total, free, left, errors.Join(e1, e2, e3))
		}
	})
}
