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

// What callers may want of one name that is no lock. A pair is a permit and its release, or one count-down.
const (
	permitsKind   javapeer.Kind = "permits"
	semaphoreKind javapeer.Kind = "semaphore"
	latchKind     javapeer.Kind = "countdown"
)

// Of permits there are so many: up to 16 callers, nobody waits.
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

// wants tells whether all callers want that kind.
func (m mix) wants(k javapeer.Kind) bool { return m.shares[k] == 100 }

// exclusive tells whether each acquisition of another caller is a hand-off.
func (m mix) exclusive() bool {
	return len(m.shares) == 1 && !slices.ContainsFunc([]javapeer.Kind{javapeer.Read, permitsKind, semaphoreKind, latchKind}, m.wants)
}

// name is that of what all callers want: of a multi-lock, its members'.
func (m mix) name(prefix string) string {
	if !m.wants(javapeer.Multi) {
		return prefix
	}
	prefix = strings.ReplaceAll(prefix, ",", "")
	return strings.Join([]string{prefix + "a", prefix + "b", prefix + "c"}, ",")
}

// prepare sets the permits or the count of either side's object.
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

// objectHandle is a caller's way to an object of a kind.
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

// goAwaiting is a latch whose awaiters are let in by one count-down.
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

// javaAwaiting does so in Java. The last count-down begins when the JVM is asked for it.
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
