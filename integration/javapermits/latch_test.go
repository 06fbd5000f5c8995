package javapermits

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

func TestCountDownLatchBesideJava(t *testing.T) {
	eachNumberRelease(t, func(t *testing.T, version string) {
		r := newRig(t)
		p := latches(r, r.server.URL(), version, name)
		p.wakeUps(
			func(n number) { p.says("true", n, "trysetcount", 2); p.says("", n, "countdown") },
			func(n number) { p.says("", n, "countdown") }, "await")
		bothAwait(p)
		lateZero(p)
		deletedUnderAwaiters(p)
		p.says("0", p.golang, "count")
	})
}

// bothAwait has two of each side wait, while both count down; the count is set again at once.
func bothAwait(p *numbers) {
	for who, s := range p.sides() {
		p.says("true", s[0], "trysetcount", 4)
		p.says("false", s[1], "trysetcount", 9)
		var got []<-chan ended
		from := p.tries()
		for _, thread := range []string{"one", "two"} {
			got = append(got, p.waits(p.Context(), p.golang, "await"), p.waits(p.Context(), p.java(thread), "await"))
			p.parked(thread)
		}
		p.listeningTo(p.channel, 2, from+6) // Go's second waits for the first
		for i := range 4 {
			for _, one := range got {
				select {
				case <-one:
					p.Fatalf("it opens after %d of 4, set by %s", i, who)
				default:
				}
			}
			p.says("", s[i%2], "countdown")
		}
		for _, one := range got {
			p.soon("who awaits", one)
		}
	}
}

// lateZero tells a 0 while the count is above 0, as a client of another sort may. Redisson's awaiter then asks without a pause
// and does not look at its limit until the next message; Go's looks once, and keeps its limit.
func lateZero(p *numbers) {
	p.says("true", p.golang, "trysetcount", 1)
	from := p.tries()
	got := p.waits(p.Context(), p.golang, "awaitfor", 2*time.Second)
	p.listeningTo(p.channel, 1, from+2)
	from = p.tries()
	p.do("PUBLISH", p.channel, "0")
	if e := p.soon("a Go awaiter with a limit", got); e.said != "false" {
		p.Errorf("it answered %q", e.said)
	}
	// Two tries at first, one for the message, one a second.
	if n := p.tries() - from; n > 20 {
		p.Errorf("a Go awaiter asked %d times in two seconds", n)
	}
	// The same in Java, to see that there is something to be spared.
	limited := p.waits(p.Context(), p.java("limited"), "awaitfor", 300*time.Millisecond)
	p.parked("limited")
	from, began := p.tries(), time.Now()
	p.do("PUBLISH", p.channel, "0")
	time.Sleep(time.Second)
	select {
	case e := <-limited:
		p.Logf("%s: %q after %v, and %d questions", p.peer.Version, e.said, e.at.Sub(began), p.tries()-from)
		limited = nil // its limit was over before the message
	default:
		p.Logf("%s: a limit of 300 ms is not kept after %v, and %d questions", p.peer.Version, time.Since(began), p.tries()-from)
	}
	p.says("", p.golang, "countdown")
	if limited != nil {
		p.soon("Java's awaiter, when the count is 0", limited)
	}
}

// deletedUnderAwaiters deletes a latch. Redisson's awaiters are not told; Go's are.
func deletedUnderAwaiters(p *numbers) {
	for who, s := range p.sides() {
		p.says("true", p.golang, "trysetcount", 5)
		from := p.tries()
		got := p.waits(p.Context(), p.golang, "await")
		p.listeningTo(p.channel, 1, from+2)
		p.says("true", s[0], "delete")
		p.soon("who awaits in Go what "+who+" deletes", got)
	}
	ctx, cancel := context.WithCancel(p.Context())
	p.says("true", p.java("acts"), "trysetcount", 1)
	from := p.tries()
	got := p.waits(ctx, p.golang, "await")
	p.listeningTo(p.channel, 1, from+2)
	cancel()
	if e := <-got; !errors.Is(e.err, context.Canceled) {
		p.Errorf("cancelled: %v", e.err)
	}
	p.says("", p.java("acts"), "countdown")
}

// In a cluster Redisson 4.7.0 publishes to shards and 3.21.3 to all, and each hears its own only. Go hears and sends both.
func TestGoWakesBothSortsOfJavaByNumbersInACluster(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	allWakeByNumbers(t, c.ClusterURL())
	for i := range 3 {
		if n := topologytest.Errors(t, c.Conn(i), "CROSSSLOT"); n != 0 {
			t.Errorf("server %d answered CROSSSLOT %d times", i, n)
		}
	}
	client := newGoSide(t, c.ClusterURL()).client
	for _, err := range []error{
		client.NewSemaphore("a{b").TryAcquire(t.Context(), 1), client.NewCountDownLatch("x{t}y").CountDown(t.Context()),
		client.NewCountDownLatch("a}b").Await(t.Context()),
	} {
		if !errors.Is(err, rlock.ErrInvalidName) {
			t.Errorf("a name in two slots: %v", err)
		}
	}
}

func TestGoWakesJavaByNumbersBehindSentinels(t *testing.T) {
	if !*full {
		t.Skip("with -full")
	}
	t.Parallel()
	allWakeByNumbers(t, redistest.StartSentinels(t, redistest.SentinelPasswords{}).URL())
}

// allWakeByNumbers has Go act, then each Java, and whoever waits in the other must come back: Java has nothing but a message to
// be woken by.
func allWakeByNumbers(t *testing.T, url string) {
	t.Helper()
	const sem, gate = "seats", "ready"
	for _, version := range []string{javapeer.Newest, "3.21.3"} {
		s, l := semaphores((&rig{}).of(t), url, version, sem), latches((&rig{}).of(t), url, version, gate)
		for who := range s.sides() {
			act, wait := s.sides()[who][0], s.sides()[who][1]
			got := s.waits(t.Context(), wait, "acquire", 1)
			if who == "Go" {
				s.parked("waits")
			}
			s.says("", act, "release", 1)
			s.soon("who waits for permits while "+who+" releases, "+version, got)
			act, wait = l.sides()[who][0], l.sides()[who][1]
			l.says("true", act, "trysetcount", 1)
			got = l.waits(t.Context(), wait, "await")
			if who == "Go" {
				l.parked("waits")
			}
			l.says("", act, "countdown")
			l.soon("who awaits while "+who+" counts down, "+version, got)
		}
		s.says("0", s.golang, "available")
		l.says("0", l.golang, "count")
	}
}
