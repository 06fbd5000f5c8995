package javapermits

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/internal/luasrc"
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

func (p *pair) hex() bool { return hexIDs(p.java.peer.Version) }

func (p *pair) waits(s side, n int, lease time.Duration) <-chan []string {
	if j, ok := s.(*javaSide); ok {
		s = j.on("waits")
	}
	got := make(chan []string, 1)
	go func() {
		ids, err := s.take(p.Context(), n, lease)
		if err != nil && p.Context().Err() == nil {
			p.Error(err)
		}
		got <- ids
	}()
	return got
}

// within receives what must come in time.
func within(p *pair, what string, most time.Duration, got <-chan []string) []string {
	p.Helper()
	select {
	case ids := <-got:
		return ids
	case <-time.After(most):
		p.Fatalf("%s: not within %v", what, most)
		return nil
	}
}

// are checks that both see so many permits.
func (p *pair) are(free, taken int) {
	p.Helper()
	for who, s := range p.sides() {
		n, err := s[0].counts(p.Context())
		p.Must(err)
		want := [3]int{free, taken, free + taken}
		if who == "Java" && p.hex() {
			want = [3]int{free}
		}
		if n != want {
			p.Errorf("%s sees %v, want %v", who, n, want)
		}
	}
}

// BesideJava shows each behaviour with a release of Redisson, as a subtest of t, and tells how many were shown.
func BesideJava(t *testing.T, version string) (shown int) {
	r := newRig(t)
	golang, java := newGoSide(t, r.Server.URL()), newJavaSide(t, version, r.Server.URL())
	for _, b := range []struct {
		name string
		show func(p *pair)
	}{
		{"never more than there are", neverMore},
		{"a release wakes the other", wakesTheOther},
		{"what is added wakes the other", addedWakes},
		{"each gives up what the other took", byIDs},
		{"leases", leases},
		{"what is taken for ever", forEver},
		{"lost replies", lostReplies},
		{"those of the dead come back", dead},
	} {
		t.Run(b.name, func(t *testing.T) {
			p := &pair{r.of(t), golang, java}
			p.Do("FLUSHALL")
			p.Must(p.java.set(t.Context(), "trysetpermits", 3))
			b.show(p)
			p.are(3, 0)
			p.Must(p.java.delete(t.Context()))
			shown++
		})
	}
	return shown
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
	const rounds = 15
	for who, s := range p.sides() {
		var taken [3][]string
		for i := range taken {
			ids, err := s[0].take(p.Context(), 1, half)
			p.Must(err)
			taken[i] = ids
		}
		var times []time.Duration
		for i := range rounds {
			got := p.listens(func() <-chan []string { return p.waits(s[1], 1, half) })
			p.are(0, 3)
			began := time.Now()
			p.Must(s[0].release(p.Context(), taken[i%3]...))
			ids := within(p, "who waits while "+who+" releases", atOnce, got)
			times = append(times, time.Since(began))
			p.are(0, 3)
			p.Must(s[1].release(p.Context(), ids...))
			taken[i%3], _ = s[0].take(p.Context(), 1, half)
		}
		slices.Sort(times)
		p.Logf("%s wakes the other, beside %s: p50 %v, max %v of %d", who, p.java.peer.Version, times[rounds/2], times[rounds-1], rounds)
		for _, ids := range taken {
			p.Must(s[0].release(p.Context(), ids...))
		}
	}
}

func addedWakes(p *pair) {
	for who, s := range p.sides() {
		for _, method := range []string{"addpermits", "setpermits"} {
			if method == "setpermits" && p.hex() {
				continue
			}
			p.Must(s[0].delete(p.Context()))
			got := p.listens(func() <-chan []string { return p.waits(s[1], 1, half) })
			p.Must(s[0].set(p.Context(), method, 3))
			p.Must(s[1].release(p.Context(), within(p, "who waits while "+who+" adds", atOnce, got)...))
		}
	}
}

func byIDs(p *pair) {
	ids, err := p.java.take(p.Context(), 1, half)
	p.Must(err)
	p.Must(p.golang.release(p.Context(), ids...))
	if err := p.golang.release(p.Context(), ids...); !errors.Is(err, rlock.ErrNotHeld) {
		p.Errorf("released twice by Go: %v", err)
	}
	r, err := p.java.TryRelease(p.Context(), ids[0])
	p.Must(err)
	if r.Bool() {
		p.Error("Java releases what Go has released")
	}
	ids, err = p.golang.take(p.Context(), 1, half)
	p.Must(err)
	hold := p.golang.held[ids[0]]
	r, err = p.java.TryRelease(p.Context(), ids[0])
	p.Must(err)
	if r.Bool() == p.hex() {
		p.Errorf("Java releases Go's: %v", r.Bool())
	}
	if err := hold.Release(p.Context()); errors.Is(err, rlock.ErrNotHeld) == p.hex() {
		p.Errorf("Go releases its own: %v", err)
	}
	if before(p.java.peer.Version, "3.27") {
		return
	}
	ids, err = p.java.take(p.Context(), 3, half)
	p.Must(err)
	p.are(0, 3)
	p.Must(p.golang.release(p.Context(), ids...))
	ids, err = p.golang.take(p.Context(), 2, half)
	p.Must(err)
	p.Must(p.java.release(p.Context(), ids...))
}

func leases(p *pair) {
	left := func(id string) time.Duration {
		p.Helper()
		d, err := p.golang.LeaseOf(p.Context(), id)
		p.Must(err)
		if !before(p.java.peer.Version, "3.52") {
			r, err := p.java.LeaseLeft(p.Context(), id)
			p.Must(err)
			if in := time.Duration(r.Int()) * time.Millisecond; in > d || in < d-12*time.Second {
				p.Errorf("Java sees a lease of %v, Go one of %v before", in, d)
			}
		}
		return d
	}
	for who, s := range p.sides() {
		ids, err := s[0].take(p.Context(), 1, half)
		p.Must(err)
		if d := left(ids[0]); d > half || d < half/2 {
			p.Errorf("%s has taken it for %v", who, d)
		}
		if err := s[1].lease(p.Context(), ids[0], 4*half); (err != nil) != (who == "Go" && p.hex()) {
			p.Errorf("the other extends what %s has taken: %v", who, err)
		} else if d := left(ids[0]); err == nil && (d < 3*half || d > 4*half) {
			p.Errorf("the other has given %s %v", who, d)
		}
		p.Must(s[0].release(p.Context(), ids...))
	}
}

// forEver has Java take permits without a lease. Only a release ends them, and wakes who waits in either.
func forEver(p *pair) {
	for who, s := range p.sides() {
		var taken [3][]string
		for i := range taken {
			ids, err := p.java.take(p.Context(), 1, javapeer.Watchdog)
			p.Must(err)
			if d, err := p.golang.LeaseOf(p.Context(), ids[0]); d != rlock.NoExpiry || err != nil {
				p.Errorf("Java has taken it for ever, Go sees %v, %v", d, err)
			}
			taken[i] = ids
		}
		got := p.listens(func() <-chan []string { return p.waits(s[1], 1, half) })
		p.Must(s[0].release(p.Context(), taken[0]...))
		p.Must(s[1].release(p.Context(), within(p, "who waits while "+who+" releases what was taken for ever", atOnce, got)...))
		p.Must(s[0].release(p.Context(), taken[1]...))
		p.Must(s[0].release(p.Context(), taken[2]...))
	}
}

// lostReplies has each of Go's scripts lose a reply. What Java counts adds up.
func lostReplies(p *pair) {
	proxy := faultproxy.Start(p, p.Server.Addr())
	golang := newGoSide(p.T, "redis://"+proxy.Addr())
	loses := func(s *luasrc.Script, fn func()) {
		p.Helper()
		h := proxy.Add(faultproxy.Rule{Match: faultproxy.Script(s.SHA1), Times: 1, Do: faultproxy.CutAfter})
		fn()
		if h.Hits() != 1 {
			p.Errorf("%d replies of %s were lost", h.Hits(), s.Name)
		}
	}
	loses(luasrc.PermitSetScript, func() { p.Must(golang.set(p.Context(), "addpermits", 2)) })
	p.are(5, 0)
	var ids []string
	loses(luasrc.PermitAcquireScript, func() {
		var err error
		ids, err = golang.take(p.Context(), 2, half)
		p.Must(err)
	})
	p.are(3, 2)
	loses(luasrc.PermitReleaseScript, func() { p.Must(golang.release(p.Context(), ids...)) })
	p.are(5, 0)
	ids, err := p.java.take(p.Context(), 1, half)
	p.Must(err)
	loses(luasrc.PermitReleaseIDsScript, func() { p.Must(golang.release(p.Context(), ids...)) })
	p.are(5, 0)
	p.Must(golang.set(p.Context(), "addpermits", -2))
}

// dead has one of each die with permits, and the other wait for them.
func dead(p *pair) {
	victim := newJavaSide(p.T, p.java.peer.Version, p.Server.URL())
	for range 3 {
		_, err := victim.take(p.Context(), 1, 2*time.Second)
		p.Must(err)
	}
	got := p.waits(p.golang, 2, half)
	victim.peer.Kill()
	p.Must(p.golang.release(p.Context(), within(p, "who waits in Go for those of a dead JVM", patience, got)...))
	// The watchdog keeps Go's, until it dies.
	doomed := newGoSide(p.T, p.Server.URL(), rlock.WithWatchdogTimeout(4*time.Second))
	held, err := doomed.Acquire(p.Context(), 3)
	p.Must(err)
	until := func() string {
		first, err := redis.Strings(p.Do("ZRANGE", codec.PermitTimes(name), 0, 0, "WITHSCORES"), nil)
		p.Must(err)
		return strings.Join(first, " until ")
	}
	first := until()
	got = p.waits(p.java, 1, half)
	p.Eventually("a renewal", func() bool { return until() != first })
	if len(got) > 0 || held.Err() != nil {
		p.Errorf("Go has not kept its permits: %v", held.Err())
	}
	p.Must(doomed.client.Close())
	p.Must(p.java.release(p.Context(), within(p, "who waits in Java for those of a closed client", patience, got)...))
}
