package behaviour_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// takeTurns runs callers goroutines; each locks name, keeps it for hold and unlocks it, turns times.
func (r *rig) takeTurns(c *rlock.Client, name string, callers, turns int, hold time.Duration) {
	r.Helper()
	l := c.NewLock(name)
	var inside atomic.Int32
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range turns {
				h, err := l.Lock(r.Context())
				if err != nil {
					r.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					r.Error("two are inside")
				}
				time.Sleep(hold)
				inside.Add(-1)
				if err := h.Unlock(r.Context()); err != nil {
					r.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// A client whose own waiters pass the lock on lets other clients try now and then, even with courtesy off.
func TestHandOffsWithinAClientEndForOthers(t *testing.T) {
	r, _ := own(t)
	name := r.name()
	busy, other := r.open(rlock.WithCourtesy(false)), r.open(rlock.WithCourtesy(false))
	var stop atomic.Bool
	var taken atomic.Int64
	var crowd sync.WaitGroup
	for range 8 {
		crowd.Go(func() {
			for !stop.Load() {
				h, err := busy.NewLock(name).Lock(t.Context())
				if err == nil {
					taken.Add(1)
					err = h.Unlock(t.Context())
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	r.Becomes("the crowd is at it", func() bool { return taken.Load() > 100 })
	for range 5 {
		began := taken.Load()
		e := r.Entered(r.enter(other.NewLock(name)))
		r.Unlock(e.Hold)
		t.Logf("entered after %d acquisitions of the busy client", taken.Load()-began)
	}
	stop.Store(true)
	crowd.Wait()
}

func TestServerThatHidesItsSubscribersIsAskedOnce(t *testing.T) {
	user := redisserver.User{Name: "worker", Password: "secret", Rules: []string{"~*", "&*", "+@all", "-pubsub"}}
	r := on(t, redisserver.ACL(t, user))
	c := r.Open(redisserver.URLAs(r.Server, user))
	r.takeTurns(c, r.name(), 2, 200, 0)
	rejected := ""
	for line := range strings.Lines(r.Text("INFO", "commandstats")) {
		if strings.HasPrefix(line, "cmdstat_pubsub|numsub:") {
			_, rejected, _ = strings.Cut(strings.TrimSpace(line), "rejected_calls=")
		}
	}
	if rejected, _, _ = strings.Cut(rejected, ","); rejected != "1" {
		t.Errorf("refused %q times, want 1", rejected)
	}
}

// A temporary error or an unreadable reply does not make the client stop asking.
func TestServerThatCannotTellItsSubscribersForAWhileIsAskedAgain(t *testing.T) {
	for _, reply := range []string{"-LOADING Redis is loading the dataset in memory\r\n", "-BUSY Redis is busy running a script\r\n", "*0\r\n", "$-1\r\n"} {
		s := spoil(t)
		asked := func() int { return s.Calls()["PUBSUB|NUMSUB"] }
		fault := s.proxy.Add(faultproxy.Rule{Match: faultproxy.Command("PUBSUB"), Times: 2, Do: faultproxy.Answer, Reply: []byte(reply)})
		for range 20 {
			if s.takeTurns(s.c, s.name(), 2, 100, 0); asked() > 0 {
				break
			}
		}
		if fault.Hits() != 2 || asked() == 0 {
			t.Errorf("after %q: answered so %d times, asked %d times after", reply, fault.Hits(), asked())
		}
	}
}

func TestWithoutCourtesyNobodyIsCounted(t *testing.T) {
	r, _ := own(t)
	for on, asked := range map[bool]bool{true: true, false: false} {
		before := r.Calls()["PUBSUB|NUMSUB"]
		r.takeTurns(r.open(rlock.WithCourtesy(on)), r.name(), 2, 200, 0)
		if counts := r.Calls()["PUBSUB|NUMSUB"] - before; (counts > 0) != asked {
			t.Errorf("courtesy %v: asked %d times", on, counts)
		}
	}
}

// flushes counts a connection's flushes, which are its writes.
type flushes struct {
	redis.Conn
	n *atomic.Int64
}

func (f flushes) Flush() error {
	f.n.Add(1)
	return f.Conn.Flush()
}

func (f flushes) ReceiveWithTimeout(d time.Duration) (any, error) {
	return redis.ReceiveWithTimeout(f.Conn, d)
}

func (f flushes) DoWithTimeout(d time.Duration, command string, args ...any) (any, error) {
	return redis.DoWithTimeout(f.Conn, d, command, args...)
}

// An unlock and the next acquire go out in one write, and the next unlock waits for both replies: one trip each.
func TestHandOffWithinAClientIsOneRoundTrip(t *testing.T) {
	const callers, turns = 4, 200 // somebody always waits
	r, s := own(t)
	var n atomic.Int64
	pool := &redis.Pool{MaxActive: 2, MaxIdle: 2, Dial: func() (redis.Conn, error) {
		conn, err := redis.Dial("tcp", s.Addr(), redis.DialReadTimeout(5*time.Second), redis.DialWriteTimeout(5*time.Second))
		return flushes{conn, &n}, err
	}}
	defer pool.Close()
	c, err := rlock.New(pool)
	testbed.Must(t, err)
	defer c.Close()
	r.Unlock(r.Lock(c.NewLock("warm"))) // connected, the scripts loaded
	n.Store(0)
	r.takeTurns(c, r.name(), callers, turns, 0)
	trips := float64(n.Load()) / (callers * turns)
	t.Logf("%.3f writes for each of %d acquisitions", trips, callers*turns)
	if trips < 0.5 || trips > 1.3 {
		t.Errorf("%.3f writes for each acquisition, want one", trips)
	}
}

// When many clients pass a lock on quickly, most of them unsubscribe from its channel for a while, so that the server
// need not send every release to all of them. When one holds it for longer, all waiting clients subscribe again and get
// the release message as before.
func TestManyClientsInACrowdLeaveTheChannelAndComeBack(t *testing.T) {
	const clients, callers = 8, 4
	r, _ := own(t)
	name := r.name()
	ctx, cancel := context.WithCancel(t.Context())
	var pause atomic.Bool
	var entries atomic.Int64
	paused := make(chan *rlock.Hold, 1)
	var all sync.WaitGroup
	for range clients {
		c := r.open()
		for range callers {
			all.Go(func() {
				for l := c.NewLock(name); ; {
					h, err := l.Lock(ctx)
					if err != nil {
						if ctx.Err() == nil {
							t.Error(err)
						}
						return
					}
					entries.Add(1)
					if pause.CompareAndSwap(true, false) {
						paused <- h
						continue
					}
					if err := h.Unlock(ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	// The race detector and a busy machine slow these clients down, and no client unsubscribes when releases are slow. So
	// this connection publishes 16 more releases at once whenever the lock is free.
	others := redisserver.Dial(t, r.Server)
	all.Go(func() {
		for ctx.Err() == nil {
			others.Do("EVAL", "for i=1,16 do if redis.call('exists',KEYS[1])==0 then redis.call('publish',KEYS[2],'0') end end", 2, name, testbed.Channel(name))
		}
	})
	defer all.Wait()
	defer cancel()
	r.Becomes("a crowd", func() bool { return entries.Load() > 20*clients*callers })
	// Each client has a waiter at any time, so a client that unsubscribes does so because of the crowd.
	began := r.Calls()["UNSUBSCRIBE"]
	r.Becomes("clients leave the channel", func() bool { return r.Calls()["UNSUBSCRIBE"] >= began+2*clients })
	for range 3 {
		pause.Store(true)
		h := testbed.Receive(r, "a hold that lasts", paused)
		// The holder's other callers wait as well.
		r.Listeners(name, clients)
		before := entries.Load()
		r.Unlock(h)
		r.Becomes("the next entry", func() bool { return entries.Load() > before })
	}
}
