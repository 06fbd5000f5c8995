package watchdog

import (
	"bytes"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// manualClock stands still until the test advances it. So Go's timers and the clock can disagree,
// as they do after a suspend.
type manualClock struct {
	mu  sync.Mutex // guards now
	now time.Duration
}

func (c *manualClock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *manualClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += d
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
	}
}

func TestH1LossInSuspendIsToldWithinASleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, real := &manualClock{}, clock.Monotonic()
		s := &server{clock: c, reply: always(renewed)}
		h := &holder{clock: real}
		w := New(s.renew, Options{TTL: testTTL, Clock: c})
		defer w.Close()
		l := w.Register(h)
		l.Live(Trust(0, testTTL), 0, Never)
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		c.advance(time.Minute)
		if l.Live(Never, 60*time.Second, Never) {
			t.Fatal("a lease whose trust is over came back because the loss was not told yet")
		}
		l.setExpiry(Never)
		if l.Expiry() != Trust(0, testTTL) {
			t.Fatalf("expiry moved to %v after the end", l.Expiry())
		}
		time.Sleep(time.Second)
		synctest.Wait()
		got := h.lost()
		if len(got) != 1 || got[0].cause != ErrExpired || got[0].at > 1100*time.Millisecond {
			t.Fatalf("told %v, want ErrExpired within a second", got)
		}
		if len(s.seen()) != 0 {
			t.Fatal("a lease was renewed after its end")
		}
	})
}

func TestH1RenewalDueInSuspendIsSentWithinASleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &manualClock{}
		s := &server{clock: c, reply: always(renewed)}
		h := &holder{clock: c}
		w := New(s.renew, Options{TTL: testTTL, Clock: c})
		w.maxSleep = 200 * time.Millisecond
		defer w.Close()
		l := w.Register(h)
		l.Live(Trust(0, testTTL), 0, Never)
		synctest.Wait()
		c.advance(29 * time.Second)
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if l.Expiry() != Trust(29*time.Second, testTTL) || len(h.lost()) != 0 {
			t.Fatalf("expiry %v, told %v", l.Expiry(), h.lost())
		}
	})
}

// More leases end in a suspend than one pass reports, and all were due for renewal.
func TestH1NoneOfACrowdIsRenewedAfterItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &manualClock{}
		s := &server{clock: c, reply: always(renewed)}
		h := &holder{clock: c}
		w := New(s.renew, Options{TTL: testTTL, Clock: c})
		defer w.Close()
		for range 5 * MaxBatch {
			w.Register(h).Live(Trust(0, testTTL), 0, Never)
		}
		c.advance(time.Minute)
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(h.lost()); n != 5*MaxBatch || len(s.seen()) != 0 {
			t.Fatalf("%d told, %d batches", n, len(s.seen()))
		}
	})
}

// The answer to a renewal arrives after a suspend, when trust has ended.
func TestH3AnswerAfterSuspendDoesNotRevive(t *testing.T) {
	for _, result := range []Result{Renewed, NotOwned, Failed} {
		synctest.Test(t, func(t *testing.T) {
			c := &manualClock{}
			s := &server{clock: c}
			h := &holder{clock: c}
			w := New(s.renew, Options{TTL: testTTL, Clock: c})
			defer w.Close()
			l := w.Register(h)
			l.Live(Trust(0, testTTL), 0, Never)
			c.advance(10 * time.Second)
			time.Sleep(time.Second)
			synctest.Wait()
			c.advance(time.Minute)
			s.seen()[0].answer(0, Answer{Result: result, Sent: 10 * time.Second, TTL: time.Hour})
			wantLoss(t, h, l, ErrExpired, 70*time.Second) // lost by the answer, before the goroutine woke
			time.Sleep(time.Minute)
			synctest.Wait()
			wantLoss(t, h, l, ErrExpired, 70*time.Second)
		})
	}
}

// A goroutine whose first lease is forgotten before it looks stays for one sleep, so that the
// next lease need not start one. It ends if no other lease comes.
func TestGoroutineThatComesTooLateStaysForASleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		state := func() (running bool, wakeAt time.Duration) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.running, w.wakeAt
		}
		until := w.clock.Now() + time.Second
		w.mu.Lock()
		w.lookBy(Never)
		w.mu.Unlock()
		synctest.Wait()
		if running, wakeAt := state(); !running || wakeAt != until {
			t.Fatalf("running %v, to look at %v", running, wakeAt)
		}
		l := w.hold()
		synctest.Wait()
		if _, wakeAt := state(); wakeAt != until {
			t.Fatalf("woken for a lease that is due later, to look at %v", wakeAt)
		}
		l.Forget()
		time.Sleep(time.Second)
		synctest.Wait()
		if running, _ := state(); running {
			t.Fatal("runs without a lease")
		}
	})
}

func TestE2GoroutineLivesOnlyWhileLeasesDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		isRunning := func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.running
		}
		goroutines := func() int { // counts only watchdogs, as other goroutines come and go during the test
			stacks := make([]byte, 1<<20)
			return bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte("(*Watchdog).run("))
		}
		before := goroutines()
		pending := w.Register(w.holder)
		synctest.Wait()
		if isRunning() {
			t.Fatal("a goroutine runs for a pending lease")
		}
		for range 3 {
			l := w.hold()
			time.Sleep(25 * time.Second)
			synctest.Wait()
			if !isRunning() || goroutines() != before+1 {
				t.Fatal("no goroutine for a live lease")
			}
			l.Forget()
			time.Sleep(time.Second)
			synctest.Wait()
			if now := goroutines(); isRunning() || now > before {
				t.Fatalf("%d goroutines, %d before the first lease", now, before)
			}
		}
		pending.Forget()
	})
}

func TestE1CloseForgetsAllInSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		waiting := w.Register(w.holder)
		inFlight := w.hold()
		time.Sleep(11 * time.Second)
		fixed := w.Register(w.holder)
		fixed.Live(12*time.Second, Never, Never)
		fixed.SetAlarm(11500 * time.Millisecond)
		synctest.Wait()
		wantLive(t, w.Watchdog, 2)
		before := w.clock.Now()
		w.Close()
		w.Close()
		if took := w.clock.Now() - before; took != 0 {
			t.Fatalf("Close took %v", took)
		}
		wantLive(t, w.Watchdog, 0)
		w.server.seen()[0].answer(0, Answer{Result: NotOwned})
		late := w.Register(w.holder)
		for _, l := range []*Lease{waiting, inFlight, fixed, late} {
			if l.Live(13*time.Second, 0, Never) {
				t.Fatal("live on a closed watchdog")
			}
			l.setExpiry(0)
			l.Lower(0)
			l.SetAlarm(0)
			l.Forget()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		wantLive(t, w.Watchdog, 0)
		if len(w.holder.lost())+len(w.holder.rung()) != 0 {
			t.Fatalf("told %v, %v", w.holder.lost(), w.holder.rung())
		}
	})
}

func TestE1CloseWaitsForACallThatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		gate := make(chan struct{})
		w.holder.onLost = func(*Lease) { <-gate }
		w.Register(w.holder).Live(time.Second, Never, Never)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		closed := make(chan struct{})
		go func() { w.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Fatal("Close returned while the holder was being told")
		default:
		}
		close(gate)
		<-closed
	})
}

// Only something earlier than everything else wakes the goroutine.
func TestLaterLeaseDoesNotWakeTheGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.hold()
		synctest.Wait()
		asleep := func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.wakeAt != awake
		}
		for range 100 {
			l := w.hold()
			l.SetAlarm(5 * time.Second)
			l.Forget()
			if !asleep() {
				t.Fatal("woken for a lease that is not the earliest")
			}
		}
		w.hold().SetAlarm(time.Millisecond)
		// By now it may sleep again, but not beyond the alarm.
		w.mu.Lock()
		wakeAt := w.wakeAt
		w.mu.Unlock()
		if wakeAt > time.Millisecond {
			t.Fatalf("not woken for the earliest: it sleeps until %v", wakeAt)
		}
	})
}
