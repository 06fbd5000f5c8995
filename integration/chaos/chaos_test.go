package chaos

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

var (
	lasts = flag.Duration("for", 20*time.Second, "how long faults strike at each topology")
	seed  = flag.Uint64("seed", 0, "the seed of what is drawn; 0 is a random one")
)

const (
	lease    = 10 * time.Second // of both sides, longer than any fault
	patience = 2 * time.Minute  // for a state that must come
)

// names are in different slots.
var names = []string{"chaos-0", "chaos-1", "chaos-2"}

func TestMain(m *testing.M) { testbed.Main(m, "1") }

func TestOneServer(t *testing.T) { play(t, oneServer) }
func TestSentinels(t *testing.T) { play(t, sentinels) }
func TestCluster(t *testing.T)   { play(t, cluster) }

// game is one play.
type game struct {
	*testing.T
	*ledger
	seed uint64
	over atomic.Bool
	all  sync.WaitGroup
}

func play(t *testing.T, at func(t *testing.T, r *rand.Rand) *site) {
	g := &game{T: t, ledger: newLedger(), seed: *seed}
	if g.seed == 0 {
		g.seed = rand.Uint64N(1e9)
	}
	r := rand.New(rand.NewPCG(g.seed, 0))
	s := at(t, r)
	ctx, enough := context.WithCancel(context.Background())
	defer enough()
	java := javapeer.Start(t, javapeer.Newest, s.url, javapeer.WatchdogTimeout(lease), javapeer.CommandTimeout(time.Second))
	for i := range 3 {
		c := testbed.Open(t, s.url, rlock.WithWatchdogTimeout(lease))
		for j := range 2 {
			g.all.Go(func() { g.goes(c, fmt.Sprintf("Go %d.%d", i, j), rand.New(rand.NewPCG(g.seed, uint64(1+10*i+j)))) })
		}
		g.all.Go(func() { g.javas(ctx, java, i, rand.New(rand.NewPCG(g.seed, uint64(100+i)))) })
	}
	defer func() {
		g.over.Store(true)
		defer time.AfterFunc(patience, enough).Stop() // a call of Java's that hangs
		g.all.Wait()
	}()
	struck := map[string]int{}
	strike := func(f fault) {
		struck[f.what]++
		over := func() {}
		if f.loses {
			over = g.loses()
		}
		f.strike()
		over()
		g.goesOn(f.what, false)
	}
	g.goesOn("the beginning", true)
	for began := time.Now(); time.Since(began) < *lasts && !g.isWrong(); <-time.After(between(r, 0, time.Second)) {
		strike(s.faults[r.IntN(len(s.faults))])
	}
	for _, f := range s.last {
		strike(f)
	}
	g.goesOn("all faults", true)
	g.over.Store(true)
	g.all.Wait()
	t.Logf("-seed %d\nfaults: %v\nentries: %v\noutcomes: %v", g.seed, struck, g.entries, g.outcomes)
	for _, text := range g.wrong {
		t.Error(text)
	}
	// What a lost call of Java's took stays for a lease.
	for _, c := range s.masters() {
		testbed.BecomesWithin(t, patience, "no lock and no subscription is left", func() bool {
			locks, err := redis.Strings(c.Do("KEYS", "chaos-*"))
			channels, failed := redis.Strings(c.Do("PUBSUB", "CHANNELS", "*chaos-*"))
			return errors.Join(err, failed) == nil && len(locks)+len(channels) == 0
		})
	}
}

func (g *game) isWrong() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.wrong) > 0
}

// goesOn waits until both sides have entered again, each lock or any.
func (g *game) goesOn(after string, each bool) {
	before := g.seen()
	testbed.BecomesWithin(g, patience, "both sides enter after "+after, func() bool {
		now := g.seen()
		entered := func(side string) (locks int) {
			for _, lock := range names {
				locks += min(1, now[lock+side]-before[lock+side])
			}
			return locks
		}
		least := 1
		if each {
			least = len(names)
		}
		return g.isWrong() || entered(" Go") >= least && entered(" Java") >= least
	})
}

// stays lets a caller be inside, or outside.
func stays(r *rand.Rand) {
	most := 20 * time.Millisecond
	if r.IntN(10) == 0 {
		most = time.Second
	}
	<-time.After(between(r, 0, most))
}

// goes is a Go caller.
func (g *game) goes(c *rlock.Client, who string, r *rand.Rand) {
	for !g.over.Load() {
		stays(r)
		lock := names[r.IntN(len(names))]
		l := c.NewLock(lock)
		ctx, cancel := context.WithTimeout(g.Context(), between(r, time.Millisecond, 5*time.Second))
		var h *rlock.Hold
		var err error
		switch r.IntN(3) {
		case 0:
			h, err = l.TryLock(ctx)
		case 1:
			h, err = l.TryLockFor(ctx, between(r, time.Millisecond, time.Second))
		default:
			h, err = l.Lock(ctx)
		}
		ended := ctx.Err()
		cancel()
		if err != nil {
			// A grant may come so late that its lease is over.
			g.ended("acquire", err, rlock.ErrLocked, rlock.ErrUncertain, rlock.ErrUnavailable, rlock.ErrUnreplicated, ended)
			continue
		}
		s := g.enters(lock, "Go", who, h)
		stays(r)
		g.leaves(lock, s)
		allowed := []error{rlock.ErrUncertain, rlock.ErrUnavailable, rlock.ErrUnreplicated}
		if s.void {
			allowed = append(allowed, rlock.ErrLeaseLost)
		}
		g.ended("unlock", h.Unlock(context.Background()), allowed...)
	}
}

// ended counts how a call ended, which must be without an error or with an allowed one.
func (g *game) ended(call string, err error, allowed ...error) {
	if err == nil {
		g.returned("Go "+call, "ok", true)
		return
	}
	for _, a := range allowed {
		if a != nil && errors.Is(err, a) {
			g.returned("Go "+call, a.Error(), true)
			return
		}
	}
	g.returned("Go "+call, err.Error(), false)
}

// javas is a thread of Redisson's, and another one after each exception: the former may hold what nobody knows of.
func (g *game) javas(ctx context.Context, java *javapeer.Peer, number int, r *rand.Rand) {
	var t *javapeer.Thread
	for n := 0; !g.over.Load(); {
		if t == nil {
			n++
			t = java.Thread(fmt.Sprintf("t%d.%d", number, n))
		}
		stays(r)
		lock := names[r.IntN(len(names))]
		var reply javapeer.Reply
		var err error
		got := true
		switch r.IntN(3) {
		case 0:
			if reply, err = t.TryLock(ctx, lock); err == nil {
				got = reply.Bool()
			}
		case 1:
			if reply, err = t.TryLockFor(ctx, lock, between(r, 10*time.Millisecond, 2*time.Second).Truncate(time.Millisecond), javapeer.Watchdog); err == nil {
				got = reply.Bool()
			}
		default:
			_, err = t.Lock(ctx, lock, javapeer.Watchdog)
		}
		if err != nil || !got {
			if g.threw("acquire", err) {
				t = nil
			}
			continue
		}
		s := g.enters(lock, "Java", fmt.Sprintf("Java %d.%d", number, n), nil)
		stays(r)
		g.leaves(lock, s)
		if _, err := t.Unlock(ctx, lock); g.threw("unlock", err) {
			t = nil
		}
	}
}

// threw counts how a call of Java's ended.
func (g *game) threw(call string, err error) bool {
	how := "ok"
	if e, is := errors.AsType[*javapeer.JavaError](err); is {
		how = e.Class
	} else if err != nil {
		how = err.Error()
	}
	g.returned("Java "+call, how, err == nil || how != err.Error())
	return err != nil
}
