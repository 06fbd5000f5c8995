package stage

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
	"github.com/rlock-go/redisson/rlock"
)

// ahead is how long before its round a number is set. A fault of the server may last as long; a failover would take with it
// all that is set, so a set of servers has less, and sometimes a round that is set late.
func (s *Stage) ahead() time.Duration {
	if s.set != nil {
		return time.Second
	}
	return 4 * time.Second
}

// numbering guards round. A failover takes long, and numbers are set beside it.
func (s *Stage) numbering() *sync.Mutex {
	if s.set != nil {
		return &s.setting
	}
	return &s.serial
}

// now is a lock of the round that it is now.
func (s *Stage) now(lock int) int { return lock + s.Kind.Round(s.began)*s.Locks }

// again sets anew what a fault took, rounds from the next one on.
func (s *Stage) again() error {
	if s.set != nil {
		s.setting.Lock()
		defer s.setting.Unlock()
	}
	s.round = s.Kind.Round(s.began) + 1
	return s.setPermits()
}

// rounds sets the semaphores or latches of each round before it begins, until stop is closed.
func (s *Stage) rounds(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(100 * time.Millisecond):
		}
		s.numbering().Lock()
		err := s.setRounds()
		s.numbering().Unlock()
		switch {
		case err == nil:
		case s.set != nil: // a busy machine's failover may outlast all patience, and sets aside what it meets
			s.Logf("note: numbers are set later: %v", err)
		default:
			s.fail("to set numbers: %v", err)
			return
		}
	}
}

// setRounds sets what is to be set by now.
func (s *Stage) setRounds() error {
	due := func() int { return s.Kind.Round(s.began - s.ahead().Nanoseconds()) }
	if s.Kind.Rounds() == 0 || s.round > due() {
		return nil
	}
	return s.withClient(func(ctx context.Context, c *rlock.Client) error {
		for ; s.round <= due(); s.round++ {
			for i := range s.Locks {
				a := &history.Acquisition{Lock: s.round*s.Locks + i, Mode: history.Set, Called: machineclock.Now()}
				name := s.Kind.Key(a.Lock, s.names())
				set := func() (err error) {
					if s.Kind.Lasting {
						a.Got = s.Kind.Permits
						_, err = c.NewSemaphore(name).TrySetPermits(ctx, a.Got)
					} else {
						a.Got = s.Kind.Count
						_, err = c.NewCountDownLatch(name).TrySetCount(ctx, int64(a.Got))
					}
					return err
				}
				err := set()
				for ; err != nil && s.set != nil && ctx.Err() == nil; err = set() { // a failover may come between
					time.Sleep(100 * time.Millisecond)
				}
				if err != nil {
					return err
				}
				a.Returned, a.Outcome = machineclock.Now(), history.OK
				s.Book.Set(a)
			}
		}
		return nil
	})
}

// withClient has a client that has no part in the play.
func (s *Stage) withClient(do func(ctx context.Context, c *rlock.Client) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := rlock.Open(ctx, s.url())
	for ; err != nil && s.set != nil && ctx.Err() == nil; c, err = rlock.Open(ctx, s.url()) {
		time.Sleep(100 * time.Millisecond) // as below
	}
	if err != nil {
		return err
	}
	defer c.Close()
	return do(ctx, c)
}

func (s *Stage) deleteNumber(lock int) error {
	return s.withClient(func(ctx context.Context, c *rlock.Client) (err error) {
		name := s.Kind.Key(lock, s.names())
		if s.Kind.Lasting {
			_, err = c.NewSemaphore(name).Delete(ctx)
		} else {
			_, err = c.NewCountDownLatch(name).Delete(ctx)
		}
		return err
	})
}

// ended notes how many permits are free of semaphores without owners, once nothing of an acquire is on its way back.
func (s *Stage) ended() {
	if !s.Kind.Lasting {
		return
	}
	const still, most = 3 * time.Second, 20 * time.Second
	s.numbering().Lock()
	locks := s.round * s.Locks
	s.numbering().Unlock()
	var last []int
	for since, end := time.Now(), time.Now().Add(most); time.Since(since) < still && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		free, err := s.free(locks)
		if err != nil {
			s.fail("free permits: %v", err)
			return
		}
		if !slices.Equal(free, last) {
			last, since = free, time.Now()
		}
	}
	for lock, n := range last {
		s.Book.Ended(lock, n)
	}
}

func (s *Stage) free(locks int) (free []int, err error) {
	for lock := range locks {
		n, e := redis.Int(s.askAbout(lock, "GET", s.Kind.Key(lock, s.names())))
		if errors.Is(e, redis.ErrNil) {
			e = nil
		}
		free, err = append(free, n), errors.Join(err, e)
	}
	return free, err
}
