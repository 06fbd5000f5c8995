package javapermits

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// pair is a Go client and a JVM of one semaphore.
type pair struct {
	*rig
	golang *goSide
	java   *javaSide
}

// sides are the two, each with the other.
func (p *pair) sides() map[string][2]side {
	return map[string][2]side{"Go": {p.golang, p.java}, "Java": {p.java, p.golang}}
}

func (p *pair) waits(s side, n int, lease time.Duration) <-chan []string {
	if j, ok := s.(*javaSide); ok {
		s = j.on("waits")
	}
	got := make(chan []string, 1)
	go func() {
		ids, err := s.take(p.Context(), n, lease)
		if err != nil {
			p.Error(err)
		}
		got <- ids
	}()
	return got
}

// within receives what must come in time.
func within(p *pair, what string, limit time.Duration, got <-chan []string) []string {
	p.Helper()
	select {
	case ids := <-got:
		return ids
	case <-time.After(limit):
		p.Fatalf("%s: not within %v", what, limit)
		return nil
	}
}

// are checks that both see so many permits.
func (p *pair) are(free, taken int) {
	p.Helper()
	for who, s := range p.sides() {
		n, err := s[0].counts(p.Context())
		p.must(err)
		want := [3]int{free, taken, free + taken}
		if who == "Java" && before(p.java.peer.Version, "3.2") {
			want = [3]int{free}
		}
		if n != want {
			p.Errorf("%s sees %v, want %v", who, n, want)
		}
	}
}

func TestBesideJava(t *testing.T) {
	eachRelease(t, func(t *testing.T, version string) {
		r := newRig(t)
		p := &pair{r, newGoSide(t, r.server.URL()), newJavaSide(t, version, r.server.URL())}
		for _, b := range []struct {
			name string
			show func(p *pair)
		}{
			{"never more than there are", neverMore},
			{"a release wakes the other", wakesTheOther},
			{"what is added wakes the other", addedWakes},
			{"each gives up what the other took", byIDs},
			{"leases", leases},
			{"those of the dead come back", func(p *pair) { dead(p, version) }},
		} {
			p.T.Run(b.name, func(t *testing.T) {
				p := &pair{&rig{t, p.server, p.conn, p.heard}, p.golang, p.java}
				p.must(p.java.set(t.Context(), "trysetpermits", 3))
				b.show(p)
				p.are(3, 0)
				p.must(p.java.delete(t.Context()))
			})
		}
	})
}

func neverMore(p *pair) {
	var inside, most atomic.Int32
	var wg sync.WaitGroup
	work := func(s side, n int) {
		for range 15 {
			ids, err := s.take(p.Context(), n, half)
			if err != nil {
				p.Error(err)
				return
			}
			now := inside.Add(int32(n))
			for seen := most.Load(); seen < now && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			time.Sleep(time.Millisecond)
			inside.Add(int32(-n))
			if err := s.release(p.Context(), ids...); err != nil {
				p.Error(err)
			}
		}
	}
	for i := range 3 {
		golang := &goSide{p.golang.PermitSemaphore, p.golang.client, map[string]*rlock.Permits{}}
		wg.Go(func() { work(golang, 1+i%2) })
		wg.Go(func() { work(p.java.on(fmt.Sprint("worker", i)), 1) })
	}
	wg.Wait()
	if n := most.Load(); n > 3 || n < 2 {
		p.Errorf("up to %d permits were taken at once, of 3", n)
	}
}

func wakesTheOther(p *pair) {
	for who, s := range p.sides() {
		var ids [][]string
		for range 3 {
			one, err := s[0].take(p.Context(), 1, half)
			p.must(err)
			ids = append(ids, one)
		}
		got := p.waits(s[1], 1, half)
		p.listening(1)
		p.are(0, 3)
		p.must(s[0].release(p.Context(), ids[0]...))
		got1 := within(p, "who waits while "+who+" releases", atOnce, got)
		p.are(0, 3)
		for _, one := range append(ids[1:], got1) {
			p.must(s[0].release(p.Context(), one...)) // one of them is the other's
		}
		if p, mine := p.golang.held[got1[0]]; mine && who == "Java" {
			_ = p.Release(context.Background())
		}
	}
}

func addedWakes(p *pair) {
	for who, s := range p.sides() {
		for _, method := range []string{"addpermits", "setpermits"} {
			if method == "setpermits" && before(p.java.peer.Version, "3.2") {
				continue
			}
			p.must(s[0].delete(p.Context()))
			got := p.waits(s[1], 1, half)
			p.listening(1)
			p.must(s[0].set(p.Context(), method, 3))
			p.must(s[1].release(p.Context(), within(p, "who waits while "+who+" adds", atOnce, got)...))
		}
	}
}

func byIDs(p *pair) {
	hex := before(p.java.peer.Version, "3.2")
	ids, err := p.java.take(p.Context(), 1, half)
	p.must(err)
	p.must(p.golang.release(p.Context(), ids...))
	if err := p.golang.release(p.Context(), ids...); !errors.Is(err, rlock.ErrNotHeld) {
		p.Errorf("released twice by Go: %v", err)
	}
	r, err := p.java.TryRelease(p.Context(), ids[0])
	p.must(err)
	if r.Bool() {
		p.Error("Java releases what Go has released")
	}
	ids, err = p.golang.take(p.Context(), 1, half)
	p.must(err)
	hold := p.golang.held[ids[0]]
	r, err = p.java.TryRelease(p.Context(), ids[0])
	p.must(err)
	if r.Bool() == hex {
		p.Errorf("Java releases Go's: %v", r.Bool())
	}
	if err := hold.Release(p.Context()); errors.Is(err, rlock.ErrNotHeld) == hex {
		p.Errorf("Go releases its own: %v", err)
	}
	if before(p.java.peer.Version, "3.27") {
		return
	}
	ids, err = p.java.take(p.Context(), 3, half)
	p.must(err)
	p.are(0, 3)
	p.must(p.golang.release(p.Context(), ids...))
	ids, err = p.golang.take(p.Context(), 2, half)
	p.must(err)
	p.must(p.java.release(p.Context(), ids...))
}

func leases(p *pair) {
	if before(p.java.peer.Version, "3.2") {
		return // the two can't name each other's
	}
	left := func(id string) time.Duration {
		p.Helper()
		d, err := p.golang.LeaseOf(p.Context(), id)
		p.must(err)
		if !before(p.java.peer.Version, "3.52") {
			r, err := p.java.LeaseLeft(p.Context(), id)
			p.must(err)
			if in := time.Duration(r.Int()) * time.Millisecond; in > d || in < d-12*time.Second {
				p.Errorf("Java sees a lease of %v, Go one of %v before", in, d)
			}
		}
		return d
	}
	for who, s := range p.sides() {
		ids, err := s[0].take(p.Context(), 1, half)
		p.must(err)
		if d := left(ids[0]); d > half || d < half/2 {
			p.Errorf("%s has taken it for %v", who, d)
		}
		p.must(s[1].lease(p.Context(), ids[0], 4*half))
		if d := left(ids[0]); d < 3*half || d > 4*half {
			p.Errorf("the other has given %s %v", who, d)
		}
		p.must(s[0].release(p.Context(), ids...))
	}
	ids, err := p.java.take(p.Context(), 1, javapeer.Watchdog)
	p.must(err)
	if d, err := p.golang.LeaseOf(p.Context(), ids[0]); d != rlock.NoExpiry || err != nil {
		p.Errorf("Java has taken it for ever, Go sees %v, %v", d, err)
	}
	p.must(p.golang.release(p.Context(), ids...))
}

// dead has one of each die with permits, and the other wait for them.
func dead(p *pair, version string) {
	victim := newJavaSide(p.T, version, p.server.URL())
	for range 3 {
		_, err := victim.take(p.Context(), 1, 2*time.Second)
		p.must(err)
	}
	got := p.waits(p.golang, 2, half)
	victim.peer.Kill()
	p.must(p.golang.release(p.Context(), within(p, "who waits in Go for those of a dead JVM", patience, got)...))
	// The watchdog keeps Go's, until it dies.
	doomed := newGoSide(p.T, p.server.URL(), rlock.WithWatchdogTimeout(time.Second))
	held, err := doomed.Acquire(p.Context(), 3)
	p.must(err)
	got = p.waits(p.java, 1, half)
	time.Sleep(1500 * time.Millisecond)
	if len(got) > 0 || held.Err() != nil {
		p.Errorf("Go has not kept its permits: %v", held.Err())
	}
	p.must(doomed.client.Close())
	p.must(p.java.release(p.Context(), within(p, "who waits in Java for those of a closed client", patience, got)...))
}

// In a cluster Redisson 4.7.0 publishes to shards and 3.21.3 to all, and each hears its own only: a waiter that is not told
// stays. Go hears and sends both.
func TestGoWakesBothSortsOfJavaInACluster(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	allWake(t, c.ClusterURL(), c.Conn(0), c.Conn(1), c.Conn(2))
	for i := range 3 {
		if n := topologytest.Errors(t, c.Conn(i), "CROSSSLOT"); n != 0 {
			t.Errorf("server %d answered CROSSSLOT %d times", i, n)
		}
	}
}

func TestGoWakesJavaBehindSentinels(t *testing.T) {
	if !*full {
		t.Skip("with -full")
	}
	t.Parallel()
	s := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	allWake(t, s.URL(), s.Master().Dial(t))
}

// allWake has Go release, then each Java, and whoever waits in the other must enter at once.
func allWake(t *testing.T, url string, conns ...redis.Conn) {
	t.Helper()
	golang := newGoSide(t, url)
	if err := golang.set(t.Context(), "trysetpermits", 1); err != nil {
		t.Fatal(err)
	}
	p := &pair{rig: &rig{T: t}, golang: golang}
	enters := func(what string, from, to side, release func(ids []string)) {
		t.Helper()
		ids, err := from.take(t.Context(), 1, 10*time.Minute) // so that its end wakes nobody
		p.must(err)
		got := p.waits(to, 1, 10*time.Minute)
		if s, java := to.(*javaSide); java {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			p.must(s.peer.Thread("waits").AwaitParked(ctx))
		} else {
			p.eventually("a Go waiter that listens", func() bool {
				for _, conn := range conns {
					counts, err := redis.IntMap(conn.Do("PUBSUB", "NUMSUB", codec.PermitChannel(name)))
					p.must(err)
					if counts[codec.PermitChannel(name)] > 0 {
						return true
					}
				}
				return false
			})
		}
		release(ids)
		p.must(to.release(t.Context(), within(p, what, 2*atOnce, got)...))
	}
	for _, version := range []string{javapeer.Newest, "3.21.3"} {
		java := newJavaSide(t, version, url)
		enters("a waiter of "+version, golang, java, func(ids []string) { p.must(golang.release(t.Context(), ids...)) })
		enters("Go behind "+version, java, golang, func(ids []string) { p.must(java.release(t.Context(), ids...)) })
	}
	if n, err := golang.counts(t.Context()); n != [3]int{1, 0, 1} || err != nil {
		t.Errorf("there are %v, %v", n, err)
	}
	if strings.Contains(url, "cluster") {
		if _, err := golang.client.NewPermitSemaphore("a{b").TryAcquire(t.Context(), 1); !errors.Is(err, rlock.ErrInvalidName) {
			t.Errorf("a name in two slots: %v", err)
		}
	}
}
