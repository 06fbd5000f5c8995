package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
)

// stage is what all rounds have in common.
type stage struct {
	tb      *testbed.Program
	tally   *tally
	machine *witness
	safe    *redisserver.LocalServer // keeps its data
	wiped   *redisserver.LocalServer // is flushed now and then
	only    string                   // a theme's name
	tell    func(violation)

	rounds   atomic.Int64 // begun so far
	flushing sync.Mutex   // held while the second server is flushed
	flushed  atomic.Int64 // what round.lost is, for all rounds there

	mu     sync.Mutex // guards graves
	graves []grave
}

// grave is a name of which nothing may be left at an instant.
type grave struct {
	r    *round
	name string
	at   int64
}

// newStage starts the servers.
func newStage(t *testbed.Program, tell func(violation)) *stage {
	s := &stage{tb: t, tally: newTally(), tell: tell}
	s.safe = redisserver.ACL(t, full, noKill, mute)
	s.wiped = redisserver.ACL(t, full, noKill, mute)
	apart := redisserver.Local(t)
	s.machine = watchMachine(redisserver.Dial(t, apart))
	t.Cleanup(s.machine.end)
	return s
}

func (s *stage) server(t *theme) *redisserver.LocalServer {
	for _, e := range t.events {
		if e.what == flushed {
			return s.wiped
		}
	}
	return s.safe
}

// lostBefore is the instant before which a hold's acquire must have begun to have lost its key by somebody who deleted it.
func (r *round) lostBefore() int64 {
	lost := r.lost.Load()
	if r.server(r.theme) == r.wiped {
		if at := r.flushed.Load(); at > r.began {
			lost = max(lost, at)
		}
	}
	return lost
}

// lane plays rounds one after the other. It has eyes and hands of its own, and another process.
type lane struct {
	*stage
	asking sync.Mutex // held while a server is asked
	onSafe redis.Conn
	onWipe redis.Conn
	other  *child
}

func (s *stage) lane() *lane {
	return &lane{stage: s, onSafe: redisserver.Dial(s.tb, s.safe), onWipe: redisserver.Dial(s.tb, s.wiped)}
}

func (l *lane) direct(t *theme) redis.Conn {
	if l.server(t) == l.wiped {
		return l.onWipe
	}
	return l.onSafe
}

// child is the lane's other process.
func (l *lane) child() *child {
	if l.other == nil {
		c, err := startChild()
		if err != nil {
			panic(fmt.Sprintf("endurance: %v", err))
		}
		l.other = c
	}
	return l.other
}

func (l *lane) end() {
	if l.other != nil {
		if err := l.other.end(); err != nil {
			l.tb.Errorf("the child ended with %v", err)
		}
	}
}

// buryAt has a name looked for once all that it left must be gone.
func (r *round) buryAt(name string, at int64) {
	r.stage.mu.Lock()
	defer r.stage.mu.Unlock()
	r.graves = append(r.graves, grave{r, name, at + 2*int64(time.Second)})
}

// visit looks for keys that are left of rounds that ended a while ago. all waits for those that are not due yet.
func (s *stage) visit(conns map[*redisserver.LocalServer]redis.Conn, all bool) {
	for {
		s.mu.Lock()
		var due []grave
		var later []grave
		for _, g := range s.graves {
			if g.at < now() {
				due = append(due, g)
			} else {
				later = append(later, g)
			}
		}
		s.graves = later
		s.mu.Unlock()
		for _, g := range due {
			keys, err := redis.Strings(conns[s.server(g.r.theme)].Do("KEYS", "*"+g.name+"*"))
			if err != nil {
				panic(fmt.Sprintf("endurance: %v", err))
			}
			if len(keys) > 0 {
				g.r.violate("left", "keys, long after all clients were closed: %v", keys)
			}
		}
		if !all || len(later) == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
