package simulation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// play is a plan that is played. All that changes is guarded by the world's lock.
type play struct {
	Plan
	w    *simnet.World
	site site
	res  *Result

	begun      time.Time
	objects    []*object
	processes  []*process
	javas      []*java
	ranJava    bool             // the command that ran is Java's
	closedOnes map[string]bool  // ids of clients whose Close has begun
	clients    map[string]*life // by their ids
	traffic    map[string]*traffic
	cancels    []*call // that the adversary may cancel

	over       bool                 // no caller begins another turn
	healed     int                  // how often all was healed
	wrote      map[string]time.Time // when a host last wrote to a server
	storming   bool
	lostAt     time.Time  // when a reply was lost last
	lossy      *rand.Rand // by which replies are lost
	lull       bool       // no fault is left
	lullAt     time.Time
	noKill     bool      // CLIENT KILL was refused
	noID       bool      // CLIENT ID was refused: a connection of that time can't be killed, however long it lives
	harshUntil time.Time // until when something of the last harsh fault may go on
	delayed    time.Time // until when what was sent may have been on its way for long
	promotions int
	promotedAt time.Time
}

// Play runs one plan in a bubble of its own.
func Play(t *testing.T, plan Plan) *Result {
	res := newResult()
	seedAll(t, plan.Seed)
	synctest.Test(t, func(*testing.T) {
		p := &play{Plan: plan, w: simnet.New(plan.Seed), res: res, begun: time.Now(), closedOnes: map[string]bool{}, clients: map[string]*life{}, wrote: map[string]time.Time{}, traffic: map[string]*traffic{}, lossy: stream(plan.Seed, ofLostReplies, 0)}
		p.w.Keep, p.w.Native = plan.Keep, plan.Native
		p.note("plan: %s %+v %+v %+v", p.Topology, p.Objects, p.Clients, p.Callers)
		p.run()
		p.w.Mu.Lock()
		res.Events, res.Log, res.Failovers = p.w.Events, p.w.Log, p.site.failovers()
		p.w.Mu.Unlock()
		res.Hash = p.w.Hash()
	})
	unseed()
	return res
}

// calm reports whether nothing breaks in this play.
func (p *play) calm() bool { return len(p.Storms) == 0 }

func (p *play) run() {
	p.w.Mu.Lock()
	p.site = newSite(p.Topology, p.w, p.promoted)
	for _, s := range p.site.servers() {
		s.Gone, s.Ran = p.gone, p.ran
	}
	if c, is := p.site.(*cluster); is {
		c.Moved = func(uint16, server, server) { p.lookAtAll() }
	}
	for _, o := range p.Objects {
		p.objects = append(p.objects, &object{Object: o, p: p, excused: map[string]Clause{}, news: map[string]news{}, left: map[string]bool{}, ghosts: map[string]int{}, undoing: map[*life]time.Time{}})
	}
	p.w.Mu.Unlock()
	time.Sleep(2 * time.Second) // the replicas come

	if p.Untracked {
		p.w.Mu.Lock()
		for _, s := range p.site.servers() {
			s.Deny("client|tracking", true)
		}
		p.w.Mu.Unlock()
	}
	for i, c := range p.Clients {
		proc := &process{play: p, Client: c, index: i, host: fmt.Sprintf("10.1.0.%d", i+1)}
		p.processes = append(p.processes, proc)
		if err := proc.open(); err != nil {
			p.violation("open: %v", err)
			return
		}
	}
	if !p.setUp() {
		return
	}
	ended := make(chan struct{})
	callers, others := p.start(ended)
	time.Sleep(p.Lasts)
	p.w.Mu.Lock()
	p.over = true
	p.w.Mu.Unlock()
	close(ended)
	others.Wait()
	p.awaitCallers(callers)
	time.Sleep(12 * time.Second)
	p.judgeLeft()
	p.judgeStats()
	p.judgeFree()
	for _, proc := range p.processes {
		proc.close(proc.client(), 0)
	}
	<-callers
	for _, j := range p.javas {
		j.close()
	}
	time.Sleep(time.Second)
	p.judgeClosed()
}

// start begins everything that goes on at the same time.
func (p *play) start(ended <-chan struct{}) (callers <-chan struct{}, others *sync.WaitGroup) {
	var all sync.WaitGroup
	for i, plan := range p.Callers {
		if !p.plays(i) {
			continue
		}
		c := &caller{Caller: plan, play: p, r: stream(p.Seed, ofCallers, i), proc: p.processes[plan.Client], o: p.objects[plan.Object], name: fmt.Sprintf("c%dw%d", plan.Client, i)}
		if plan.Habit == Java {
			all.Go(c.workInJava)
		} else {
			all.Go(c.work)
		}
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	others = &sync.WaitGroup{}
	for i, proc := range p.processes {
		others.Go(func() { proc.restarts(stream(p.Seed, ofClients, i), ended) })
	}
	if p.calm() {
		others.Go(func() { p.calmFaults(ended) })
		others.Go(func() { p.watch(nil, ended) })
	} else {
		others.Go(func() { p.storms(ended) })
	}
	return done, others
}

// setUp gives semaphores their permits. Nothing is wrong yet.
func (p *play) setUp() bool {
	for _, o := range p.objects {
		var err error
		switch o.Kind {
		case Semaphore:
			o.total = o.Permits
			_, err = p.processes[0].now.c.NewSemaphore(o.Name).TrySetPermits(context.Background(), o.Permits)
		case Permits:
			o.total = o.Permits
			_, err = p.processes[0].now.c.NewPermitSemaphore(o.Name).TrySetPermits(context.Background(), o.Permits)
		default:
			continue
		}
		if err != nil {
			p.violation("set up: %v", err)
			return false
		}
		o.count.set(int64(o.Permits))
	}
	return true
}

// awaitCallers waits until all calls have ended. In a lull each does in time, which begins anew behind a place that kept all out, or
// that was lost.
func (p *play) awaitCallers(callers <-chan struct{}) {
	const within = 4 * time.Minute
	from := map[*object]time.Time{}
	for _, o := range p.objects {
		from[o] = time.Now()
	}
	for stuck := false; !stuck; {
		select {
		case <-callers:
			return
		case <-time.After(time.Second):
		}
		p.w.Mu.Lock()
		for _, o := range p.objects {
			if p.deadHead(o) || p.forgotten(o) {
				from[o] = time.Now()
			}
			if time.Since(from[o]) <= within {
				continue
			}
			for _, c := range o.calls {
				p.violate("stuck: %s of %s has not returned %v after the last fault: %s, waiting %v", c.what, c.who, within, p.site.master(o.Name).Dump(o.Name), o.enqueued)
				stuck = true
			}
		}
		p.w.Mu.Unlock()
	}
}

// judgeFree judges that everything can be acquired again: keys that are left expire.
func (p *play) judgeFree() {
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	proc := p.processes[0]
	p.w.Mu.Lock()
	closed := proc.now.closed
	p.w.Mu.Unlock()
	if closed { // the play ended before its next client could be opened
		if err := proc.open(); err != nil {
			p.violation("open: %v", err)
			return
		}
	}
	for _, o := range p.objects {
		l := proc.client()
		var h *rlock.Hold
		var err error
		switch {
		case !o.Kind.lock() || o.Kind == Fair && !p.calm(): // the place of a process that died keeps others out
			continue
		case o.Kind == ReadWrite:
			h, err = l.c.NewReadWriteLock(o.Name).WriteLock().Lock(ctx)
		default:
			h, err = l.c.NewLock(o.Name).Lock(ctx)
		}
		if err != nil {
			p.violation("left: %s is not free 40 s after all holds ended: %v", o.Name, err)
			continue
		}
		if err := h.Unlock(ctx); err != nil && !errors.Is(err, rlock.ErrUnreplicated) {
			p.violation("left: the last unlock of %s: %v", o.Name, err)
		}
	}
}

// Names returns the names of outcomes in order.
func (r *Result) Names() []string { return slices.Sorted(maps.Keys(r.Outcomes)) }
