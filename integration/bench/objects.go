package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
	"github.com/rlock-go/redisson/rlock"
)

// Objects that are not locks. A pair is a permit and its release, or one count-down.
const (
	permitsKind   javapeer.Kind = "permits"
	semaphoreKind javapeer.Kind = "semaphore"
	latchKind     javapeer.Kind = "countdown"
)

// permits is how many permits there are: up to 16 callers, none waits.
const permits = 16

var (
	permitsTitle   = fmt.Sprintf("%d permits", permits)
	semaphoreTitle = fmt.Sprintf("semaphore of %d", permits)
)

// countDowns is more than a load can do.
const countDowns = 1 << 40

func atCallers(title string, callers int) string {
	return fmt.Sprintf("%s, %d callers", title, callers)
}

// wants reports whether all callers want that kind.
func (m mix) wants(k javapeer.Kind) bool { return m.shares[k] == 100 }

// exclusive reports whether each acquisition by another caller is a hand-off.
func (m mix) exclusive() bool {
	return len(m.shares) == 1 && !slices.ContainsFunc([]javapeer.Kind{javapeer.Read, permitsKind, semaphoreKind, latchKind}, m.wants)
}

// name is the name that all callers use; for a multi-lock, its members' names.
func (m mix) name(prefix string) string {
	if !m.wants(javapeer.Multi) {
		return prefix
	}
	prefix = strings.ReplaceAll(prefix, ",", "")
	return strings.Join([]string{prefix + "a", prefix + "b", prefix + "c"}, ",")
}

// prepare sets the object's permits or count, for rlock and Redisson alike.
func (m mix) prepare(c *rlock.Client, name string) (err error) {
	ctx := context.Background()
	switch {
	case m.wants(permitsKind):
		_, err = c.NewPermitSemaphore(name).TrySetPermits(ctx, permits)
	case m.wants(semaphoreKind):
		_, err = c.NewSemaphore(name).TrySetPermits(ctx, permits)
	case m.wants(latchKind):
		_, err = c.NewCountDownLatch(name).TrySetCount(ctx, countDowns)
	}
	return err
}

// objectHandle returns a caller's handle of an object of this kind.
func objectHandle(c *rlock.Client, k javapeer.Kind, name string) handle {
	switch k {
	case permitsKind:
		s := c.NewPermitSemaphore(name)
		return holding(func(ctx context.Context) (*rlock.Permits, error) { return s.Acquire(ctx, 1) }, (*rlock.Permits).Release)
	case semaphoreKind:
		s := c.NewSemaphore(name)
		return handle{
			func(ctx context.Context) error { return s.Acquire(ctx, 1) },
			func(ctx context.Context) error { return s.Release(ctx, 1) },
		}
	case latchKind:
		return handle{c.NewCountDownLatch(name).CountDown, func(context.Context) error { return nil }}
	case javapeer.Multi:
		var members []*rlock.Lock
		for member := range strings.SplitSeq(name, ",") {
			members = append(members, c.NewLock(member))
		}
		m := rlock.NewMultiLock(members...)
		return holding(func(ctx context.Context) (*rlock.MultiHold, error) { return m.Lock(ctx) }, (*rlock.MultiHold).Unlock)
	}
	return ofLock(k.GoLock(c, name))
}

// goAwaiting is a latch whose awaiters are all released by one count-down.
func goAwaiting(c *rlock.Client) reading {
	return reading{
		name: ours,
		write: func(name string) error {
			_, err := c.NewCountDownLatch(name).TrySetCount(context.Background(), 1)
			return err
		},
		read: func(name string, _ int) (int64, error) {
			ctx, cancel := context.WithTimeout(context.Background(), 2*grace)
			defer cancel()
			err := c.NewCountDownLatch(name).Await(ctx)
			return machineclock.Now(), err
		},
		unread: func(string, int) error { return nil },
		release: func(name string) (int64, error) {
			began := machineclock.Now()
			return began, c.NewCountDownLatch(name).CountDown(context.Background())
		},
	}
}

// javaAwaiting is the same in Java. The last count-down begins when the JVM gets the command.
func javaAwaiting(p *javapeer.Peer) reading {
	do := func(thread, name, method string, args ...any) (int64, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*grace)
		defer cancel()
		reply, err := p.Thread(thread).Of(latchKind).Call(ctx, name, method, args...)
		return reply.At, err
	}
	return reading{
		name:   javaP,
		write:  func(name string) error { _, err := do("w", name, "trysetcount", 1); return err },
		read:   func(name string, i int) (int64, error) { return do(fmt.Sprint("r", i), name, "await") },
		unread: func(string, int) error { return nil },
		release: func(name string) (int64, error) {
			began := machineclock.Now()
			_, err := do("w", name, "countdown")
			return began, err
		},
	}
}
