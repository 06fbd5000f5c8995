package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/machineclock"
)

// broken is a lock with one defect. Otherwise it is correct: it renews, and only its holder unlocks it.
type broken struct {
	pool    *redis.Pool
	next    atomic.Int64
	steals  bool          // its unlock deletes any value
	poll    time.Duration // a waiter's interval between attempts
	forever *atomic.Int64 // counts its locks; the first one's renewal never stops. nil: each stops
	closed  atomic.Bool
}

// brokenParty returns a party whose lock has a defect.
func brokenParty(name string, defect func(*broken)) *party {
	return &party{name: name, key: plain, renews: true, open: func(o opening) (*service, error) {
		b := &broken{poll: 50 * time.Millisecond, pool: &redis.Pool{Dial: func() (redis.Conn, error) {
			return redis.Dial("tcp", o.addr, redis.DialReadTimeout(patience))
		}}}
		defect(b)
		return &service{lock: b.lock, close: func() {
			b.closed.Store(true)
			b.pool.Close()
		}}, nil
	}}
}

func (b *broken) do(command string, args ...any) (any, error) {
	c := b.pool.Get()
	defer c.Close()
	return c.Do(command, args...)
}

const ifMine = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`

func (b *broken) lock(ctx context.Context, name string) (hold, error) {
	value := fmt.Sprintf("%p:%d", b, b.next.Add(1))
	forever := b.forever != nil && !strings.HasPrefix(name, "warm:") && b.forever.Add(1) == 1
	for {
		reply, err := b.do("SET", name, value, "NX", "PX", lease.Milliseconds())
		if err != nil {
			return hold{}, err
		}
		if reply != nil {
			break
		}
		select {
		case <-ctx.Done():
			return hold{}, ctx.Err()
		case <-time.After(b.poll):
		}
	}
	stop := make(chan struct{})
	go b.renew(name, value, forever, stop)
	return hold{unlock: func(context.Context) error {
		if !forever {
			close(stop)
		}
		if b.steals {
			_, err := b.do("DEL", name)
			return err
		}
		n, err := redis.Int(b.do("EVAL", ifMine, 1, name, value, 0))
		if err == nil && n == 0 {
			err = errors.New("not held")
		}
		return err
	}}, nil
}

func (b *broken) renew(name, value string, forever bool, stop chan struct{}) {
	tick := time.NewTicker(lease / 30)
	defer tick.Stop()
	for {
		var err error
		if forever {
			_, err = b.do("SET", name, value, "PX", lease.Milliseconds())
		} else {
			_, err = b.do("EVAL", ifMine, 1, name, value, lease.Milliseconds())
		}
		if err != nil && (!forever || b.closed.Load()) {
			return
		}
		select {
		case <-stop:
			return
		case <-tick.C:
		}
	}
}

// play runs one round of each cell, all at once.
func play(t *testing.T, cells map[string]task) map[string]*Cell {
	t.Helper()
	r := &run{Report: &Report{}}
	done := make(chan struct{})
	for _, c := range cells {
		go func() {
			r.lone(c)
			done <- struct{}{}
		}()
	}
	for range cells {
		<-done
	}
	all := map[string]*Cell{}
	for name, c := range cells {
		cell := r.of(c.f.name, c.p.name)
		if cell == nil || cell.Rounds != 1 {
			t.Fatalf("%s was not played: %+v", name, cell)
		}
		all[name] = cell
	}
	return all
}

// value is a metric of a cell with one round.
func value(t *testing.T, c *Cell, metric string) float64 {
	t.Helper()
	m, ok := c.metric(metric)
	if !ok || len(m.Values) != 1 {
		t.Fatalf("%s, %s: no %q in %+v", c.Fault, c.Party, metric, c.Metrics)
	}
	return m.Values[0]
}

func TestBrokenLocksAreCaughtInTheirCells(t *testing.T) {
	t.Parallel()
	defer func(before time.Duration) { limit = before }(limit)
	limit = lease + 2*time.Second
	us := findParty(ours)
	steals := brokenParty("steals", func(b *broken) { b.steals = true })
	polls := brokenParty("polls", func(b *broken) { b.poll = time.Millisecond })
	var first atomic.Int64 // two that fight for the key may leave either's value there
	forever := brokenParty("renews for ever", func(b *broken) { b.forever = &first })
	taken, unlock := findFault("key taken by another"), findFault("reply to an unlock lost, connection cut")
	waiters := &fault{name: "20 waiters", does: crowd(20)}
	c := play(t, map[string]task{
		"steals": {taken, steals}, "rlock taken": {taken, us},
		"polls": {waiters, polls}, "rlock waiters": {waiters, us},
		"forever": {unlock, forever}, "rlock unlock": {unlock, us},
	})
	const took, commands, next = "its unlock took the next one's hold", "commands an acquisition", "next enters after"
	const disturbed = "the next one's hold was taken"
	if value(t, c["steals"], took) != 1 {
		t.Error("an unlock that deletes whatever is there took nothing")
	}
	if value(t, c["rlock taken"], took) != 0 {
		t.Error("rlock's unlock took another's hold")
	}
	if c["steals"].verdict() != twoInside || c["steals"].both() != 1 {
		t.Error("a holder that nobody tells was not seen beside the next one")
	}
	if many, few := value(t, c["polls"], commands), value(t, c["rlock waiters"], commands); many < 10 || few > 8 {
		t.Errorf("a waiter that polls sends %.1f commands an acquisition, rlock's %.1f", many, few)
	}
	// The renewal takes the lock back, before or after the next one enters.
	if ms := value(t, c["forever"], next); ms != never && value(t, c["forever"], disturbed) != 1 || c["forever"].verdict() == fine {
		t.Errorf("behind a renewal that never stops the next one enters after %.0f ms, and keeps it", ms)
	}
	if ms := value(t, c["rlock unlock"], next); ms > 2000 || value(t, c["rlock unlock"], disturbed) != 0 || c["rlock unlock"].both() > 0 {
		t.Errorf("rlock: the next one enters after %.0f ms, two inside: %d", ms, c["rlock unlock"].both())
	}
}

func TestTheWitnessReadsOnlyTimes(t *testing.T) {
	w := &witness{}
	w.stay("a", 0, 10)
	w.stay("b", 5, 20) // another lock
	w.stay("a", 10, 30)
	if d := w.together(); d > 0 {
		t.Errorf("one after the other: %v together", d)
	}
	const end = int64(time.Second)
	w.stay("a", 30, end)
	w.stay("a", end-int64(step)+1, 2*end)
	if d := w.together(); d != 0 {
		t.Errorf("less than the witness can tell apart: %v together", d)
	}
	w.stay("a", end-int64(step), end)
	if d := w.together(); d != step {
		t.Errorf("a step together: %v", d)
	}
	e := w.enter("c")
	w.enter("c")
	if e.leave(); w.together() < 0 {
		t.Error("who stays is not beside who came before")
	}
}

// lookedAt is a hold whose holder stalls at one check, and learns of its loss at another.
func lookedAt(stall, told int) hold {
	looks := 0
	return hold{over: func() bool {
		if looks++; looks == stall {
			time.Sleep(lease/2 + 100*time.Millisecond)
		}
		return looks == told
	}}
}

func TestMillisecondsTogetherAreSeen(t *testing.T) {
	w := &witness{}
	first := w.enter("a")
	w.enter("a")
	did, err := work(lookedAt(0, 4), lease) // the holder acts three times
	if err != nil {
		t.Fatal(err)
	}
	if first.leaveAt(did.Last); w.together() < 2*step {
		t.Errorf("who acted three times beside another was seen beside it for %v", w.together())
	}
}

func TestAWokenHoldersStayBeginsWithItsFirstDeed(t *testing.T) {
	t.Parallel()
	began := machineclock.Now()
	did, err := work(lookedAt(3, 6), lease)
	if err != nil || since(began, did.Woke) < lease/2 || did.Told < did.Last {
		t.Errorf("%+v, %v: told before it acted, or not woken", did, err)
	}
	if d := since(did.Woke, did.Last); d < 2*step {
		t.Errorf("three deeds within %v: the witness takes deeds for a step apart", d)
	}
}
