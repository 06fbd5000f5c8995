package stage

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
	"github.com/rlock-go/redisson/rlock"
)

// ahead is how long before its round a number is set. A fault of the server may last as long.
const ahead = 4 * time.Second

// rounds sets the semaphores or latches of each round before it begins, until stop is closed.
func (s *Stage) rounds(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(100 * time.Millisecond):
		}
		s.serial.Lock()
		err := s.setRounds()
		s.serial.Unlock()
		if err != nil {
			s.fail("to set numbers: %v", err)
			return
		}
	}
}

// setRounds sets what is to be set by now.
func (s *Stage) setRounds() error {
	if s.Kind.Rounds() == 0 || s.round > s.Kind.Round(s.began-ahead.Nanoseconds()) {
		return nil
	}
	return s.withClient(func(ctx context.Context, c *rlock.Client) error {
		for ; s.round <= s.Kind.Round(s.began-ahead.Nanoseconds()); s.round++ {
			for i := range s.Locks {
				a := &history.Acquisition{Lock: s.round*s.Locks + i, Mode: history.Set, Called: machineclock.Now()}
				name := s.Kind.Key(a.Lock, s.names())
				var err error
				if s.Kind.Lasting {
					a.Got = s.Kind.Permits
					_, err = c.NewSemaphore(name).TrySetPermits(ctx, a.Got)
				} else {
					a.Got = s.Kind.Count
					_, err = c.NewCountDownLatch(name).TrySetCount(ctx, int64(a.Got))
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
	s.serial.Lock()
	locks := s.round * s.Locks
	s.serial.Unlock()
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
		n, e := redis.Int(s.ask("GET", s.Kind.Key(lock, s.names())))
		if errors.Is(e, redis.ErrNil) {
			e = nil
		}
		free, err = append(free, n), errors.Join(err, e)
	}
	return free, err
}
