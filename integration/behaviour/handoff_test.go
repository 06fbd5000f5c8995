package behaviour_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// takeTurns has so many callers lock name, hold it and unlock it, turns times each.
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

func TestHandOffWithinAClientCostsOneAttemptAndNoSubscription(t *testing.T) {
	const callers, turns = 2, 500
	r, _ := own(t)
	c := r.open(rlock.WithCourtesy(false))
	r.Unlock(r.Lock(c.NewLock("warm"))) // the scripts are loaded
	before := r.Calls()
	name := r.name()
	r.takeTurns(c, name, callers, turns, 0)
	after := r.Calls()
	acquisitions := callers * turns
	attempts := after["EVALSHA"] - before["EVALSHA"] - acquisitions
	subscribes := after["SUBSCRIBE"] + after["SSUBSCRIBE"] - before["SUBSCRIBE"] - before["SSUBSCRIBE"]
	t.Logf("%d acquisitions: %d attempts, %d SUBSCRIBE", acquisitions, attempts, subscribes)
	if attempts < acquisitions || attempts > acquisitions*11/10 {
		t.Errorf("%d attempts for %d acquisitions", attempts, acquisitions)
	}
	if subscribes > acquisitions/50 {
		t.Errorf("subscribed %d times", subscribes)
	}
	r.Listeners(name, 0)
}

// All processes hear of an unlock, and this one must not take its own for somebody else's: its waiters would ask for what
// one of them holds.
func TestMessageOfAHandOffWakesNobodyHere(t *testing.T) {
	const callers, turns = 3, 40
	r, _ := own(t)
	c := r.open()
	r.Unlock(r.Lock(c.NewLock("warm"))) // the scripts are loaded
	before := r.Calls()["EVALSHA"]
	r.takeTurns(c, r.name(), callers, turns, time.Millisecond)
	attempts := r.Calls()["EVALSHA"] - before - callers*turns
	if t.Logf("%d attempts", attempts); attempts > callers*turns*6/5 {
		t.Errorf("%d attempts for %d acquisitions", attempts, callers*turns)
	}
}

// A client whose own waiters hand the lock on lets others try now and then, also with courtesy off.
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

// What a hand-off leaves undone is left to nobody: the head waits out the TTL of a lock that was passed to it and
// vanished, and is woken when somebody forces it.
func TestHandedOnLockIsForcedUnderItsHolder(t *testing.T) {
	r, _ := own(t)
	name := r.name()
	c, other := r.open(), r.open()
	h := r.Lock(c.NewLock(name))
	second, third := r.enter(c.NewLock(name)), r.enter(c.NewLock(name))
	r.Listeners(name, 1)
	r.Unlock(h)
	var stuck, waits <-chan testbed.Entry
	var held testbed.Entry
	select {
	case held = <-second:
		stuck, waits = second, third
	case held = <-third:
		stuck, waits = third, second
	case <-time.After(patience):
		t.Fatal("nobody entered")
	}
	_ = stuck
	if held.Err != nil {
		t.Fatal(held.Err)
	}
	if forced, err := other.NewLock(name).ForceUnlock(t.Context()); !forced || err != nil {
		t.Fatalf("forced %v, %v", forced, err)
	}
	began := time.Now()
	e := r.Entered(waits)
	between(t, "entering", e.At.Sub(began), -time.Second, 5*time.Second)
	r.Unlock(e.Hold)
	wants(t, held.Hold.Unlock(t.Context()), rlock.ErrNotHeld)
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

// What passes, and what can't be read, is no reason to stop asking.
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

// flushes counts what a client writes at once.
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

// Unlock and acquire leave in one write, and the next one's unlock waits for the answer to that: writes are round trips.
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
	if err != nil {
		t.Fatal(err)
	}
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

// A JVM's waiter has woken when a Go loop holds the lock again. Where holds are long, a few milliseconds are nothing, and
// the loop leaves them after a few turns, not after dozens.
func TestLoopOfLongHoldsLetsASlowWaiterIn(t *testing.T) {
	r, _ := own(t)
	name := r.name()
	loop, slow := r.open(), r.open()
	conn := redisserver.Dial(t, r.Server)
	if err := conn.Send("SUBSCRIBE", "redisson_lock__channel:{"+name+"}"); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	r.Listeners(name, 1)
	var turns atomic.Int64
	var stop atomic.Bool
	var loops sync.WaitGroup
	loops.Go(func() {
		for !stop.Load() {
			h, err := loop.NewLock(name).Lock(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			turns.Add(1)
			time.Sleep(100 * time.Millisecond)
			if err := h.Unlock(t.Context()); err != nil {
				t.Error(err)
				return
			}
		}
	})
	defer loops.Wait()
	defer stop.Store(true)
	for {
		reply, err := redis.Values(redis.ReceiveWithTimeout(conn, patience))
		if err != nil {
			t.Fatal(err)
		}
		if kind, _ := redis.String(reply[0], nil); kind != "message" {
			continue
		}
		time.Sleep(2 * time.Millisecond) // its waking up
		h, err := slow.NewLock(name).TryLock(t.Context())
		if err == nil {
			t.Logf("let in after %d turns", turns.Load())
			r.Unlock(h)
			return
		}
		wants(t, err, rlock.ErrLocked)
		if turns.Load() > 15 {
			t.Fatalf("not let in after %d turns", turns.Load())
		}
	}
}
