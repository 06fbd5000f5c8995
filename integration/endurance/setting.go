package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// The accounts: one may do all, one may not do what the kill barrier needs, and one may announce nothing.
var (
	full   = redisserver.User{Name: "app", Password: "secret", Rules: []string{"~*", "&*", "+@all"}}
	noKill = redisserver.User{Name: "poor", Password: "secret", Rules: []string{"~*", "&*", "+@all", "-client|kill"}}
	mute   = redisserver.User{Name: "mute", Password: "secret", Rules: []string{"~*", "&*", "+@all", "-publish"}}
)

// The ways to a server.
const (
	byURL      = "Open"
	byPool     = "pool"
	byLeftover = "pool whose Dial leaves replies behind"
	bySlow     = "pool that is slow to dial"
	byTwo      = "pool of two"
)

// setting is how a client is made.
type setting struct {
	By       string
	Addr     string
	NoKill   bool
	Mute     bool // its unlocks delete the key and fail then
	Unseen   bool // no owner is shown but by doShow
	Timeout  time.Duration
	Watchdog time.Duration
	Seed     uint64 // of the pool's moods
	Name     string // of the lock
}

func (s setting) String() string {
	return fmt.Sprintf("%s, kill allowed: %v, publish allowed: %v, T %v, watchdog %v", s.By, !s.NoKill, !s.Mute, s.Timeout, s.Watchdog)
}

func (s setting) user() redisserver.User {
	switch {
	case s.NoKill:
		return noKill
	case s.Mute:
		return mute
	}
	return full
}

// open makes the client, and its pool if it has one.
func (s setting) open() (*rlock.Client, *redis.Pool, error) {
	opts := []rlock.Option{rlock.WithCommandTimeout(s.Timeout), rlock.WithWatchdogTimeout(s.Watchdog)}
	if s.By == byURL {
		u := s.user()
		c, err := rlock.Open(context.Background(), fmt.Sprintf("redis://%s:%s@%s", u.Name, u.Password, s.Addr), opts...)
		return c, nil, err
	}
	p := &redis.Pool{MaxIdle: 4, Dial: s.dialler()}
	if s.By == byTwo {
		p.MaxActive, p.Wait = 2, true
	}
	c, err := rlock.New(p, opts...)
	return c, p, err
}

// dialler is the Dial of the pool.
func (s setting) dialler() func() (redis.Conn, error) {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(s.Seed, 1))
	u := s.user()
	return func() (redis.Conn, error) {
		mu.Lock()
		mood, part := rng.IntN(4), rng.Float64()
		mu.Unlock()
		if s.By == bySlow && mood == 0 {
			time.Sleep(time.Duration(part * float64(2*time.Second)))
		}
		const patience = 10 * time.Second
		c, err := redis.Dial("tcp", s.Addr, redis.DialUsername(u.Name), redis.DialPassword(u.Password),
			redis.DialConnectTimeout(patience), redis.DialReadTimeout(patience), redis.DialWriteTimeout(patience))
		if err != nil || s.By != byLeftover {
			return c, err
		}
		switch mood {
		case 0: // a clean one
		case 1:
			_ = c.Send("CLIENT", "SETNAME", "app")
			_ = c.Flush()
		case 2:
			_ = c.Send("CLIENT", "ID")
			_ = c.Send("CLIENT", "SETNAME", "app")
		default:
			_ = c.Send("CLIENT", "SETNAME", "app")
		}
		return c, nil
	}
}
