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
		sem := c.NewPermitSemaphore(LockName(i))
		_, e := sem.Delete(ctx)
		first, e2 := sem.TrySetPermits(ctx, s.Kind.Permits)
		if err = errors.Join(err, e, e2); !first && e2 == nil {
			err = errors.Join(err, fmt.Errorf("semaphore %d had permits already", i))
		}
	}
	return err
}

// permitsLeft are those that somebody still has, and those that got lost. All have a lease.
func (s *Stage) permitsLeft() (left error) {
	for i := range s.Locks {
		free, err := redis.Int(s.ask("GET", LockName(i)))
		ids, e := redis.Strings(s.ask("ZRANGE", codec.PermitTimes(LockName(i)), 0, -1))
		if left = errors.Join(left, err, e); free+len(ids) != s.Kind.Permits {
			left = errors.Join(left, fmt.Errorf("semaphore %d has %d free permits, and %d are taken", i, free, len(ids)))
		}
		live, err := redis.Int(s.ask("ZCOUNT", codec.PermitTimes(LockName(i)), time.Now().UnixMilli(), "+inf"))
		if left = errors.Join(left, err); live > 0 {
			left = errors.Join(left, fmt.Errorf("%d permits of semaphore %d are taken: %x", live, i, ids))
		}
	}
	return left
}
