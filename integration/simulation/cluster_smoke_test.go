package simulation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// TestLocksOfAClusterExclude plays two clients of a cluster in which one kind of fault comes
// again and again, or several strike together: SIM_CLUSTER_SEEDS seeds of each kind.
func TestLocksOfAClusterExclude(t *testing.T) {
	first, seeds := Env("SIM_SEED", 1), Env("SIM_CLUSTER_SEEDS", 5)
	for _, kind := range append(slices.Clone(clusterFaults), "together") {
		t.Run(strings.ReplaceAll(kind, " ", "-"), func(t *testing.T) {
			sum := map[string]int{}
			var virtual time.Duration
			for seed := first; seed < first+seeds; seed++ {
				for k, n := range playCluster(t, uint64(seed), kind, &virtual) {
					sum[k] += n
				}
			}
			t.Logf("%d seeds, %v, %v", seeds, virtual.Round(time.Second), sum)
		})
	}
}

var clusterFaults = []string{"planned failover", "killed master", "moved slot", "partition"}

// clusterPlay is one seed of it.
type clusterPlay struct {
	t    *testing.T
	seed uint64
	w    *simnet.World
	c    *simredis.Cluster

	mu    sync.Mutex // guards what follows; held for moments only
	r     *rand.Rand
	holds map[string][]*clusterHold
	sum   map[string]int
	over  bool
	last  time.Time // when a replica was last promoted
}

type clusterHold struct {
	h           *rlock.Hold
	name, owner string
	ending      bool
	void        bool // a failover lost it
}

func (p *clusterPlay) rand(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.r.IntN(n)
}

func (p *clusterPlay) upTo(d time.Duration) time.Duration { return time.Duration(p.rand(int(d))) }

func (p *clusterPlay) count(what string) {
	p.mu.Lock()
	p.sum[what]++
	p.mu.Unlock()
}

func (p *clusterPlay) violation(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.w.Mu.Lock()
	p.w.Note("VIOLATION %s", text)
	p.w.Mu.Unlock()
	p.t.Errorf("seed %d at %v: %s", p.seed, p.w.Since(), text)
}

func playCluster(t *testing.T, seed uint64, kind string, virtual *time.Duration) map[string]int {
	p := &clusterPlay{seed: seed, r: rand.New(rand.NewPCG(seed, 12)), holds: map[string][]*clusterHold{}, sum: map[string]int{}}
	seedAll(t, seed)
	synctest.Test(t, func(t *testing.T) {
		p.t, p.w = t, simnet.New(seed)
		p.w.Keep = Env("SIM_KEEP", 0) > 0
		p.run(kind)
		*virtual += p.w.Since()
		if p.w.Keep {
			_ = os.WriteFile(fmt.Sprintf("log.%d", seed), []byte(strings.Join(p.w.Log, "\n")), 0o666)
		}
	})
	unseed()
	return p.sum
}

func (p *clusterPlay) run(kind string) {
	p.w.Mu.Lock()
	p.w.Native = p.r.IntN(2) == 0
	p.c = simredis.NewCluster(p.w, 3, 1+p.r.IntN(2))
	p.c.Promoted = p.promoted
	for _, s := range p.c.Servers {
		s.Gone = p.gone
		if p.w.Keep {
			s.Ran = func(*simredis.Server, string, []string, any) {}
		}
	}
	p.w.Mu.Unlock()
	time.Sleep(2 * time.Second) // the replicas come

	var names []string // two in each master's slots
	for i := 0; len(names) < 6; i++ {
		name := fmt.Sprint("lock", i)
		if int(codec.Slot(name))/5462 == len(names)%3 {
			names = append(names, name)
		}
	}
	var clients []*rlock.Client
	for i := range 2 {
		c, err := rlock.Open(context.Background(), p.c.URL(), dialer(p.w, fmt.Sprintf("10.1.0.%d", i+1)))
		if err != nil {
			p.violation("open: %v", err)
			return
		}
		clients = append(clients, c)
	}
	var all sync.WaitGroup
	for i, c := range clients {
		for j := range 3 {
			all.Go(func() { p.work(c, fmt.Sprintf("c%dw%d", i, j), names) })
		}
	}
	for range 3 {
		time.Sleep(p.upTo(10 * time.Second))
		if kind != "together" {
			p.fault(kind, names)
			continue
		}
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				time.Sleep(p.upTo(3 * time.Second))
				p.fault(clusterFaults[p.rand(len(clusterFaults))], names)
			})
		}
		for range 5 {
			time.Sleep(p.upTo(2 * time.Second))
			p.breaks()
		}
		all.Wait()
	}
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(3 * time.Minute):
		p.violation("stuck: calls have not ended three minutes after the last fault")
	}
	time.Sleep(12 * time.Second)
	ctx, cancel := context.WithTimeout(context.Background(), 35*time.Second)
	for _, name := range names {
		h, err := clients[0].NewLock(name).Lock(ctx)
		if err != nil {
			p.violation("%s is not free after all holds ended: %v", name, err)
			continue
		}
		if err := h.Unlock(ctx); err != nil && !errors.Is(err, rlock.ErrUnreplicated) { // a break may have waited for this command
			p.violation("the last unlock of %s: %v", name, err)
		}
	}
	cancel()
	for _, c := range clients {
		c.Close()
	}
	<-ended
	time.Sleep(time.Second)
	p.w.Mu.Lock()
	open := len(p.w.Conns(func(c *simnet.Conn) bool { return !c.Closed() }))
	for _, s := range p.c.Servers { // the bubble's end waits for their rounds
		s.Kill(true)
	}
	p.sum["failovers"] += p.c.Failovers
	p.w.Mu.Unlock()
	if open > 0 {
		p.violation("%d connections are open after Close", open)
	}
	time.Sleep(time.Minute)
}

// fault makes one fault, and returns when the cluster is well again.
func (p *clusterPlay) fault(kind string, names []string) {
	lasts := time.Second + p.upTo(15*time.Second)
	p.w.Mu.Lock()
	masters := p.c.Masters()
	m := masters[p.w.Rand.IntN(len(masters))]
	p.w.Note("fault: %s of %s", kind, m.Addr)
	var others []*simredis.Server
	done := make(chan struct{})
	switch kind {
	case "planned failover":
		for _, s := range p.c.Servers {
			if s.Follows(m) {
				s.Command("FAILOVER")
				break
			}
		}
		close(done)
	case "killed master":
		if p.w.Rand.IntN(3) == 0 { // it hangs
			m.Paused = true
			p.w.After(lasts, m.Resume)
		} else {
			m.Kill(p.w.Rand.IntN(2) == 0)
			p.w.After(lasts, func() { // a server that is still the master must not come back without its data
				m.Start(slices.Contains(p.c.Masters(), m) || p.w.Rand.IntN(2) == 0)
			})
		}
		p.w.After(lasts, func() { close(done) })
	case "moved slot":
		left := 2
		for _, to := range masters {
			if to != m {
				slot := codec.Slot(names[p.w.Rand.IntN(len(names))])
				p.c.Move(slot, to, func() {
					if left--; left == 0 {
						close(done)
					}
				})
			}
		}
	case "partition":
		some := []*simredis.Server{m}
		for _, s := range p.c.Servers {
			if s != m && p.w.Rand.IntN(4) == 0 && len(some) < len(p.c.Servers)/2 {
				some = append(some, s)
			} else if s != m {
				others = append(others, s)
			}
		}
		p.c.Part(some, others, true)
		p.w.After(lasts, func() { p.c.Part(some, others, false); close(done) })
	}
	p.w.Mu.Unlock()
	p.count("faults")
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		p.w.Mu.Lock()
		trouble := p.c.Trouble()
		p.w.Mu.Unlock()
		p.violation("%s of %s does not end: %s", kind, m.Addr, trouble)
		return
	}
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		p.w.Mu.Lock()
		trouble := p.c.Trouble()
		p.w.Mu.Unlock()
		if trouble == "" {
			return
		}
		if time.Since(began) > time.Minute {
			p.violation("a minute after a fault %s", trouble)
			return
		}
	}
}

// breaks breaks some of the clients' connections, at any byte.
func (p *clusterPlay) breaks() {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	for _, c := range p.w.Conns(func(*simnet.Conn) bool { return p.w.Rand.IntN(3) == 0 }) {
		c.BreakAfter(p.w.Rand.IntN(2) == 0, p.w.Rand.IntN(400))
	}
}

func (p *clusterPlay) work(c *rlock.Client, who string, names []string) {
	for {
		p.mu.Lock()
		over := p.over
		p.mu.Unlock()
		if over {
			return
		}
		time.Sleep(p.upTo(300 * time.Millisecond))
		name := names[p.rand(len(names))]
		ctx, cancel := context.WithTimeout(context.Background(), time.Second+p.upTo(30*time.Second))
		began := time.Now()
		h, err := c.NewLock(name).Lock(ctx)
		p.count("lock: " + kindOf(err))
		if took := time.Since(began); took > 40*time.Second {
			p.violation("%s: Lock of %s took %v: %v", who, name, took, err)
		}
		cancel()
		if err != nil {
			continue
		}
		o := p.entered(h, name, who, began)
		select {
		case <-time.After(p.upTo([]time.Duration{50 * time.Millisecond, 3 * time.Second, 20 * time.Second}[p.rand(3)])):
		case <-h.Done():
		}
		p.mu.Lock()
		o.ending = true
		p.mu.Unlock()
		valid, until := h.Err() == nil, h.ValidUntil()
		ctx, cancel = context.WithTimeout(context.Background(), 10*time.Second)
		err = h.Unlock(ctx)
		cancel()
		p.mu.Lock()
		void := o.void
		p.holds[name] = slices.DeleteFunc(p.holds[name], func(x *clusterHold) bool { return x == o })
		p.mu.Unlock()
		p.count("unlock: " + kindOf(err))
		if kindOf(err) == "lost" && valid && time.Now().Before(until) && !void {
			p.violation("%s: Unlock of %s, which is trusted, says: %v", who, name, err)
		}
	}
}

// entered records a hold, and looks for another one of the name that is trusted now.
func (p *clusterPlay) entered(h *rlock.Hold, name, who string, began time.Time) *clusterHold {
	o := &clusterHold{h: h, name: name, owner: h.Owner().String()}
	p.w.Mu.Lock()
	_, there := p.c.Master(name).Field(name, o.owner)
	p.w.Note("%s holds %s", who, name)
	p.w.Mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !there && time.Since(p.last) < 8*time.Second { // a former master granted it
		o.void = true
		p.sum["lost on its way"]++
	}
	p.sum["entries"]++
	others := slices.Clone(p.holds[name])
	p.holds[name] = append(p.holds[name], o)
	for _, x := range others {
		if h.Err() != nil || x.h.Err() != nil {
			continue
		}
		if x.void || o.void {
			p.sum["overlaps of a hold that a failover lost"]++
			continue
		}
		go p.violation("exclusion: %s entered %s, which is held by %s until %v", who, name, x.owner, time.Until(x.h.ValidUntil()))
	}
	return o
}

// gone is called by a server when a key disappears: nobody may trust a hold of it then.
func (p *clusterPlay) gone(s *simredis.Server, key, why string) {
	if s != p.c.Master(key) || why != "expired" && why != "deleted" {
		return
	}
	go func() { // at the same virtual time, without the world's lock
		p.mu.Lock()
		all := slices.DeleteFunc(slices.Clone(p.holds[key]), func(o *clusterHold) bool { return o.ending || o.void })
		p.mu.Unlock()
		for _, o := range all {
			p.w.Mu.Lock()
			_, there := p.c.Master(key).Field(key, o.owner)
			p.w.Mu.Unlock()
			if o.h.Err() == nil && !there {
				p.violation("%s of %s is trusted, and its key was %s", o.owner, key, why)
			}
		}
	}()
}

func (p *clusterPlay) promoted(former, next *simredis.Server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	for _, name := range slices.Sorted(maps.Keys(p.holds)) {
		if p.c.Master(name) != next {
			continue
		}
		for _, o := range p.holds[name] {
			if _, there := next.Field(name, o.owner); !there && !o.void {
				o.void = true
				p.sum["holds that a failover lost"]++
				p.w.Note("%s of %s is lost", o.owner, name)
			}
		}
	}
}
