package stage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
)

// withClient calls do with a client that is not under test.
func (s *Stage) withClient(do func(ctx context.Context, c *rlock.Client) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var c *rlock.Client
	if err := s.insist(ctx, func() (err error) { c, err = rlock.Open(ctx, s.url()); return err }); err != nil {
		return err
	}
	defer c.Close()
	return do(ctx, c)
}

// insist calls do, and in a set retries it until ctx ends, because a failover may make it fail.
func (s *Stage) insist(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil || s.set == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// setPermits deletes one semaphore, or all if none is named, and sets its number of permits. It does nothing for other
// kinds.
func (s *Stage) setPermits(locks ...int) error {
	if s.Kind.Permits == 0 {
		return nil
	}
	return s.semaphores(func(ctx context.Context, i int, sem *rlock.PermitSemaphore) error {
		if len(locks) > 0 && i != locks[0] {
			return nil
		}
		_, err := sem.Delete(ctx)
		first, e := sem.TrySetPermits(ctx, s.Kind.Permits)
		if err = errors.Join(err, e); err == nil && !first && s.set == nil {
			err = fmt.Errorf("semaphore %d had permits already", i)
		}
		return err
	})
}

// semaphores calls do with each semaphore.
func (s *Stage) semaphores(do func(ctx context.Context, i int, sem *rlock.PermitSemaphore) error) error {
	return s.withClient(func(ctx context.Context, c *rlock.Client) (err error) {
		for i := range s.Sizes.Locks {
			sem := c.NewPermitSemaphore(LockName(i))
			err = errors.Join(err, s.insist(ctx, func() error { return do(ctx, i, sem) }))
		}
		return err
	})
}

// refill sets the permits of semaphores that a set has lost, for example because a master came back empty.
func (s *Stage) refill() {
	if s.Kind.Permits == 0 {
		return
	}
	err := s.semaphores(func(ctx context.Context, i int, sem *rlock.PermitSemaphore) error {
		n, err := sem.Total(ctx)
		if err == nil && n == 0 {
			s.Logf("note: the set has lost semaphore %d", i)
			_, err = sem.TrySetPermits(ctx, s.Kind.Permits)
		}
		return err
	})
	if err != nil {
		s.fail("permits are not set again: %v", err)
	}
}

// askAbout sends one command about a lock to the server that has its keys.
func (s *Stage) askAbout(lock int, command string, args ...any) (reply any, err error) {
	err = s.nodes(true, func(_ string, do func(string, ...any) (any, error)) (err error) {
		if got, err := do(command, args...); err == nil || s.set == nil {
			reply = got
			return err
		}
		return nil // another server has them
	})
	return reply, err
}

// permitsLeft reports permits that are still taken and permits that are missing, apart from those that Redisson lost in a
// set. Every permit has a lease.
func (s *Stage) permitsLeft() (left error) {
	for i := range s.Sizes.Locks {
		free, err := redis.Int(s.askAbout(i, "GET", LockName(i)))
		ids, e := redis.Strings(s.askAbout(i, "ZRANGE", codec.PermitTimes(LockName(i)), 0, -1))
		missing, lost := s.Kind.Permits-free-len(ids), 0
		if s.set != nil {
			lost = s.set.Witness.Doubled(LockName(i))
		}
		if left = errors.Join(left, err, e); missing < 0 || missing > lost {
			left = errors.Join(left, fmt.Errorf("semaphore %d has %d free permits, and %d are taken; Redisson may have lost %d", i, free, len(ids), lost))
		}
		live, err := redis.Int(s.askAbout(i, "ZCOUNT", codec.PermitTimes(LockName(i)), time.Now().UnixMilli(), "+inf"))
		if left = errors.Join(left, err); live > 0 {
			left = errors.Join(left, fmt.Errorf("%d permits of semaphore %d are taken: %x", live, i, ids))
		}
	}
	return left
}
