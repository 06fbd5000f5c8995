package interop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

const (
	crowdOfEach = 8 // Java threads, and goroutines of each of two clients
	crowdRounds = 4
	// Java's waiters may miss a message, see timeToEnd.
	crowdPatience = 90 * time.Second
)

// manyWaitersOnBothSides lets a crowd in that all waits when the lock is released, and then has it come back some times.
func manyWaitersOnBothSides(s *scene) {
	ctx, guardKey := s.Context(), s.name+":guard"
	first := s.got(s.lock.Lock(ctx))
	var all []<-chan outcome[int]
	join := func(enter func(context.Context) (leave func(context.Context) error, err error)) {
		g := guard{redisserver.Dial(s.T, s.server), guardKey}
		all = append(all, background(func() (int, error) { return g.visit(ctx, enter) }))
	}

	tries := s.evalshas()
	for _, client := range []*rlock.Client{s.client, s.open(s.T)} {
		lock := client.NewLock(s.name)
		for range crowdOfEach {
			join(func(ctx context.Context) (func(context.Context) error, error) {
				hold, err := lock.Lock(ctx)
				if err != nil {
					return nil, err
				}
				return hold.Unlock, nil
			})
		}
	}
	s.eventually("waiters of two clients", func() bool { return s.subscribers() == 2 && s.evalshas() >= tries+4 })
	for i := range crowdOfEach {
		thread := s.java.Thread(fmt.Sprintf("crowd-%d", i))
		join(func(ctx context.Context) (func(context.Context) error, error) {
			_, err := thread.Lock(ctx, s.name, javapeer.Watchdog)
			return func(ctx context.Context) error {
				_, err := thread.Unlock(ctx, s.name)
				return err
			}, err
		})
		s.javaParked(thread)
	}
	if n := s.subscribers(); n != 3 {
		s.Fatalf("%d connections listen for two clients and a JVM", n)
	}
	for _, c := range all {
		stillWaits(s, c)
	}

	s.must(first.Unlock(ctx))
	for _, c := range all {
		if n := awaitFor(s, crowdPatience, c); n != crowdRounds {
			s.Errorf("entered %d times of %d", n, crowdRounds)
		}
	}
	inside, err := redis.Int(s.redis.Do("GETDEL", guardKey))
	if err != nil || inside != 0 {
		s.Errorf("the guard ends at %d, %v", inside, err)
	}
	s.serverHas(nil)
}

// guard counts who is inside, in Redis.
type guard struct {
	conn redis.Conn
	key  string
}

// visit enters and leaves again and again, and returns how often it did.
func (g guard) visit(ctx context.Context, enter func(context.Context) (func(context.Context) error, error)) (int, error) {
	for done := range crowdRounds {
		leave, err := enter(ctx)
		if err != nil {
			return done, err
		}
		if err := errors.Join(g.alone(), leave(ctx)); err != nil {
			return done, err
		}
	}
	return crowdRounds, nil
}

func (g guard) alone() error {
	inside, err := redis.Int(g.conn.Do("INCR", g.key))
	if err != nil {
		return err
	}
	if inside != 1 {
		return fmt.Errorf("%d are inside at once", inside)
	}
	// Time for another to come in, if the lock lets it.
	time.Sleep(time.Millisecond)
	_, err = g.conn.Do("DECR", g.key)
	return err
}
