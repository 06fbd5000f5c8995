package rlock

import (
	"context"
	"errors"
	"strings"
	"time"
)

// scripted is a call that runs a script.
type scripted struct {
	name  string
	ready func(r *scriptRig, name string) (call func(ctx context.Context) error)
}

// afterLock is a call that follows an acquire of a lock.
func afterLock(make func(*Client, string) *Lock, call func(ctx context.Context, r *scriptRig, l *Lock, h *Hold) error) func(*scriptRig, string) func(context.Context) error {
	return func(r *scriptRig, name string) func(context.Context) error {
		l := make(r.worker, name)
		h, err := l.TryLock(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		return func(ctx context.Context) error { return call(ctx, r, l, h) }
	}
}

func unlocksHold(ctx context.Context, _ *scriptRig, _ *Lock, h *Hold) error { return h.Unlock(ctx) }

// unlocksShown unlocks a hold whose owner was shown, so that others may act as it.
func unlocksShown(ctx context.Context, _ *scriptRig, _ *Lock, h *Hold) error {
	_ = h.Owner().String()
	return h.Unlock(ctx)
}

func forcesLock(ctx context.Context, _ *scriptRig, l *Lock, _ *Hold) error {
	return says(l.ForceUnlock(ctx))
}

func onceTried(make func(*Client, string) *Lock) func(*scriptRig, string) func(context.Context) error {
	return func(r *scriptRig, name string) func(context.Context) error {
		return func(ctx context.Context) error { _, err := make(r.worker, name).TryLock(ctx); return err }
	}
}

// kept releases a hold whose lock stays taken.
func kept(make func(*Client, string) *Lock) func(*scriptRig, string) func(context.Context) error {
	return func(r *scriptRig, name string) func(context.Context) error {
		return r.lock(make(r.worker, name), AtLeast(time.Hour)).Unlock
	}
}

// numbered is a call on a semaphore or latch whose number is 5.
func numbered(call func(ctx context.Context, c *Client, name string) error) func(*scriptRig, string) func(context.Context) error {
	return func(r *scriptRig, name string) func(context.Context) error {
		r.do("SET", name, 5)
		return func(ctx context.Context) error { return call(ctx, r.worker, name) }
	}
}

// permitted is a call on a semaphore with 5 permits, of which one is taken without an end and one has expired.
func permitted(call func(ctx context.Context, s *PermitSemaphore) error) func(*scriptRig, string) func(context.Context) error {
	return func(r *scriptRig, name string) func(context.Context) error {
		r.do("SET", name, 3)
		raw, err := rawID(onePermit)
		if err != nil {
			r.Fatal(err)
		}
		r.do("ZADD", "{"+name+"}:timeout", int64(922337203685477), raw, 1, "0123456789abcdef")
		return func(ctx context.Context) error { return call(ctx, r.worker.NewPermitSemaphore(name)) }
	}
}

func writeOf(c *Client, name string) *Lock { return c.NewReadWriteLock(name).WriteLock() }
func readOf(c *Client, name string) *Lock  { return c.NewReadWriteLock(name).ReadLock() }

// scriptCalls has a call for each script that changes something, and for each different path through it.
var scriptCalls = []scripted{
	{"plain lock", onceTried((*Client).NewLock)},
	{"plain unlock", afterLock((*Client).NewLock, unlocksHold)},
	{"plain unlock, shown", afterLock((*Client).NewLock, unlocksShown)},
	{"re-entry", afterLock((*Client).NewLock, func(ctx context.Context, _ *scriptRig, l *Lock, h *Hold) error {
		_, err := l.TryLock(ctx, As(h.Owner()))
		return err
	})},
	{"plain unlock, AtLeast", kept((*Client).NewLock)},
	{"fair unlock, AtLeast", kept((*Client).NewFairLock)},
	{"unlock of a nested hold", func(r *scriptRig, name string) func(context.Context) error {
		l := r.worker.NewLock(name)
		outer := r.lock(l)
		inner := r.lock(l, As(outer.Owner()))
		return inner.Unlock
	}},
	{"UnlockAs", func(r *scriptRig, name string) func(context.Context) error {
		h := r.lock(r.admin.NewLock(name))
		return func(ctx context.Context) error { return r.worker.NewLock(name).UnlockAs(ctx, h.Owner()) }
	}},
	{"Extend", func(r *scriptRig, name string) func(context.Context) error {
		h := r.lock(r.worker.NewLock(name), Lease(time.Minute))
		return func(ctx context.Context) error { return h.Extend(ctx, time.Hour) }
	}},
	{"force", afterLock((*Client).NewLock, forcesLock)},
	{"spin lock", onceTried((*Client).NewSpinLock)},
	{"spin unlock", afterLock((*Client).NewSpinLock, unlocksHold)},
	{"spin unlock, shown", afterLock((*Client).NewSpinLock, unlocksShown)},
	{"spin force", afterLock((*Client).NewSpinLock, forcesLock)},
	{"fenced lock", onceTried((*Client).NewFencedLock)},
	{"non-reentrant lock", onceTried((*Client).NewNonReentrantLock)},
	{"fair lock", onceTried((*Client).NewFairLock)},
	{"fair lock behind a place", func(r *scriptRig, name string) func(context.Context) error {
		r.place(name)
		return func(ctx context.Context) error {
			if _, err := r.worker.NewFairLock(name).TryLock(ctx); !errors.Is(err, ErrLocked) {
				return err
			}
			return nil
		}
	}},
	{"fair unlock", afterLock((*Client).NewFairLock, func(ctx context.Context, r *scriptRig, l *Lock, h *Hold) error { return h.Unlock(ctx) })},
	{"fair unlock before a place", func(r *scriptRig, name string) func(context.Context) error {
		h := r.lock(r.worker.NewFairLock(name))
		r.place(name)
		return h.Unlock
	}},
	{"fair force before a place", func(r *scriptRig, name string) func(context.Context) error {
		l := r.worker.NewFairLock(name)
		h := r.lock(l)
		r.place(name)
		return func(ctx context.Context) error { return forcesLock(ctx, r, l, h) }
	}},
	{"read lock", onceTried(readOf)},
	{"second read lock", func(r *scriptRig, name string) func(context.Context) error {
		r.lock(readOf(r.admin, name))
		return onceTried(readOf)(r, name)
	}},
	{"write lock", onceTried(writeOf)},
	{"read unlock", afterLock(readOf, unlocksHold)},
	{"read unlock, others read", func(r *scriptRig, name string) func(context.Context) error {
		r.lock(readOf(r.admin, name))
		return afterLock(readOf, unlocksHold)(r, name)
	}},
	{"write unlock", afterLock(writeOf, unlocksHold)},
	{"write unlock, reads left", func(r *scriptRig, name string) func(context.Context) error {
		h := r.lock(writeOf(r.worker, name))
		r.lock(readOf(r.worker, name), As(h.Owner()))
		return h.Unlock
	}},
	{"unlock of a nested write hold", func(r *scriptRig, name string) func(context.Context) error {
		h := r.lock(writeOf(r.worker, name))
		return r.lock(writeOf(r.worker, name), As(h.Owner())).Unlock
	}},
	{"read force", afterLock(readOf, forcesLock)},
	{"write force", afterLock(writeOf, forcesLock)},
	{"semaphore acquire", numbered(func(ctx context.Context, c *Client, name string) error {
		return c.NewSemaphore(name).TryAcquire(ctx, 2)
	})},
	{"Semaphore.TrySetPermits", func(r *scriptRig, name string) func(context.Context) error {
		return func(ctx context.Context) error {
			return says(r.worker.NewSemaphore(name).TrySetPermits(ctx, 5, Expire(time.Hour)))
		}
	}},
	{"count down to 0", func(r *scriptRig, name string) func(context.Context) error {
		r.do("SET", name, 1)
		return r.worker.NewCountDownLatch(name).CountDown
	}},
	{"TrySetCount", func(r *scriptRig, name string) func(context.Context) error {
		return func(ctx context.Context) error { return says(r.worker.NewCountDownLatch(name).TrySetCount(ctx, 5)) }
	}},
	{"permits acquire", permitted(func(ctx context.Context, s *PermitSemaphore) error {
		_, err := s.TryAcquire(ctx, 2)
		return err
	})},
	{"permits release", func(r *scriptRig, name string) func(context.Context) error {
		return r.permits(name, 1).Release
	}},
	{"permits release several", func(r *scriptRig, name string) func(context.Context) error {
		return r.permits(name, 2).Release
	}},
	{"ReleaseIDs", permitted(func(ctx context.Context, s *PermitSemaphore) error { return s.ReleaseIDs(ctx, onePermit) })},
	{"PermitSemaphore.SetPermits", permitted(func(ctx context.Context, s *PermitSemaphore) error { return s.SetPermits(ctx, 9) })},
	{"PermitSemaphore.AddPermits", permitted(func(ctx context.Context, s *PermitSemaphore) error { return s.AddPermits(ctx, 2) })},
	{"PermitSemaphore.TrySetPermits", func(r *scriptRig, name string) func(context.Context) error {
		return func(ctx context.Context) error { return says(r.worker.NewPermitSemaphore(name).TrySetPermits(ctx, 5)) }
	}},
	{"SetLease", permitted(func(ctx context.Context, s *PermitSemaphore) error { return s.SetLease(ctx, onePermit, time.Hour) })},
	{"PermitSemaphore.Delete", permitted(func(ctx context.Context, s *PermitSemaphore) error { _, err := s.Delete(ctx); return err })},
}

func init() {
	for _, m := range changes { // those of a semaphore or latch
		if !strings.HasPrefix(m.name, "PermitSemaphore") && m.name != "ReleaseIDs" && m.name != "SetLease" && m.name != "SetPermits" && m.name != "AddPermits" && m.name != "TrySetPermits" {
			scriptCalls = append(scriptCalls, scripted{m.name, numbered(m.call)})
		}
	}
}
