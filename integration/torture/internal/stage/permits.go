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

// setPermits deletes these semaphores, and sets how many permits there are; without any, it does so for all. It does
// nothing for other kinds.
func (s *Stage) setPermits(locks ...int) error {
	if s.Kind.Permits == 0 || s.Kind.Lasting {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := rlock.Open(ctx, s.url())
	if err != nil {
		return err
	}
	defer c.Close()
	for i := range s.Locks {
		if len(locks) > 0 && i != locks[0] {
			continue
		}
		if s.set != nil {
			err = errors.Join(err, s.anew(ctx, c.NewPermitSemaphore(LockName(i))))
			continue
		}
		sem := c.NewPermitSemaphore(LockName(i))
		_, e := sem.Delete(ctx)
		first, e2 := sem.TrySetPermits(ctx, s.Kind.Permits)
		if err = errors.Join(err, e, e2); !first && e2 == nil {
			err = errors.Join(err, fmt.Errorf("semaphore %d had permits already", i))
		}
	}
	return err
}

// anew is that of one semaphore of a set, where a failover may come between.
func (s *Stage) anew(ctx context.Context, sem *rlock.PermitSemaphore) error {
	for {
		_, err := sem.Delete(ctx)
		if err == nil {
			_, err = sem.TrySetPermits(ctx, s.Kind.Permits)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// refill sets the permits again of semaphores that a set has lost, as with a master that came back empty.
func (s *Stage) refill() {
	if s.Kind.Permits == 0 || s.Kind.Rounds() > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := rlock.Open(ctx, s.url())
	if err != nil {
		s.Logf("note: permits are not set again: %v", err)
		return
	}
	defer c.Close()
	for i := range s.Locks {
		sem := c.NewPermitSemaphore(LockName(i))
		for {
			n, err := sem.Total(ctx)
			if err == nil && n == 0 {
				s.Logf("note: the set has lost semaphore %d", i)
				_, err = sem.TrySetPermits(ctx, s.Kind.Permits)
			}
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				s.fail("permits are not set again: %v", err)
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// askAbout sends one command about a lock to the server that has it.
func (s *Stage) askAbout(lock int, command string, args ...any) (any, error) {
	if s.set == nil {
		return s.ask(command, args...)
	}
	err := errors.New("no master answers")
	for _, n := range s.set.masters() {
		var reply any
		if reply, err = do(n, command, args...); err == nil {
			return reply, nil
		}
	}
	return nil, fmt.Errorf("about lock %d: %w", lock, err)
}

// permitsLeft are those that somebody still has, and those that got lost. All have a lease.
func (s *Stage) permitsLeft() (left error) {
	for i := range s.Locks {
		free, err := redis.Int(s.askAbout(i, "GET", LockName(i)))
		ids, e := redis.Strings(s.askAbout(i, "ZRANGE", codec.PermitTimes(LockName(i)), 0, -1))
		if left = errors.Join(left, err, e); free+len(ids) != s.Kind.Permits {
			left = errors.Join(left, fmt.Errorf("semaphore %d has %d free permits, and %d are taken", i, free, len(ids)))
		}
		live, err := redis.Int(s.askAbout(i, "ZCOUNT", codec.PermitTimes(LockName(i)), time.Now().UnixMilli(), "+inf"))
		if left = errors.Join(left, err); live > 0 {
			left = errors.Join(left, fmt.Errorf("%d permits of semaphore %d are taken: %x", live, i, ids))
		}
	}
	return left
}
