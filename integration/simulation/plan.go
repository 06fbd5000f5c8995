package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Plan is a whole play as plain data, drawn from its seed. Callers and faults are known by
// their indices. Each draws whatever it needs from a stream of its own, so a play without one
// of them leaves the others' draws as they were.
type Plan struct {
	Seed     uint64
	Topology Topology
	Native   bool // connections are like the system's sockets
	Clients  []Client
	Objects  []Object
	Callers  []Caller
	Storms   []Storm // none: a calm play
	Faults   []Fault
	Lasts    time.Duration // until the callers end
	// Untracked says that no account may use CLIENT TRACKING, so that holders hear of a loss by their renewals alone.
	Untracked bool
	// Former says that the play is as it was before keys got other types and replies were lost at the moments that matter.
	Former bool

	WithoutCallers []int // indices of Callers that stay away
	WithoutFaults  []int // indices of Faults that do not strike
	Keep           bool  // the history, in Result.Log
}

// Client is a process with one client.
type Client struct {
	Courtesy, Observed bool
	Restarts           []time.Duration // when it is closed, each after the one before, and a new one opened
}

// Object is a lock, or another thing that Redis keeps under one name.
type Object struct {
	Kind    Kind
	Name    string
	Permits int // of a semaphore
}

// Caller is a goroutine that uses one object through one client.
type Caller struct {
	Client, Object int
	Habit          Habit
	Quiet          bool // it seldom calls
}

// Habit says how a caller uses its object.
type Habit string

const (
	Works  Habit = "works"  // acquires and releases
	Asks   Habit = "asks"   // who holds, how many are free
	Forces Habit = "forces" // takes it from others
	Leads  Habit = "leads"  // Lead
	Shares Habit = "shares" // acts as an owner that all who share use
	Multi  Habit = "multi"  // acquires all locks together
	Java   Habit = "java"   // as Redisson does
)

// Storm is a time with faults. After it all is healed, and the time until the next one is a lull.
type Storm struct {
	From, To time.Duration
	Light    bool // connections break, and nothing worse happens
}

// Fault strikes at its time.
type Fault struct {
	At, Lasts time.Duration
	What      FaultKind
}

// Topology says where the servers are.
type Topology string

const (
	OneServer Topology = "server"
	Sentinel1 Topology = "sentinel1" // a master with one replica
	Sentinel2 Topology = "sentinel2"
	Cluster   Topology = "cluster"

	// Replicated has a master with two replicas, and no Sentinels.
	Replicated Topology = "replicated"
)

// Topologies are all of them.
var Topologies = []Topology{OneServer, Sentinel1, Sentinel2, Cluster, Replicated}

// topologyOf chooses by the seed's remainder, so that a seed alone says everything. Each fifth seed has the topology that
// was added last; the others have the one that they had before.
func topologyOf(seed uint64) Topology {
	if seed%5 == 0 {
		return Replicated
	}
	return Topologies[seed%4]
}

// streams of random numbers that a seed has.
const (
	ofPlan uint64 = iota + 1
	ofClients
	ofCallers
	ofFaults
	ofLeaves
	ofReplaced
	ofLosses
	ofLostReplies
)

// stream is the source of one of a seed's callers, faults or other purposes.
func stream(seed, purpose uint64, index int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, purpose<<32+uint64(index)))
}

func between(r *rand.Rand, a, b time.Duration) time.Duration {
	return a + time.Duration(r.Int64N(int64(b-a)))
}

// Draw makes the plan of a seed.
func Draw(seed uint64) Plan {
	p := drawFormer(seed)
	p.drawLosses()
	p.drawShares()
	return p
}

// drawShares lets some callers of one lock share owners.
func (p *Plan) drawShares() {
	r := stream(p.Seed, ofLosses, 1)
	o := r.IntN(len(p.Objects))
	if r.IntN(3) > 0 || !p.Objects[o].Kind.lock() {
		return
	}
	for i, c := range p.Callers {
		if c.Object == o && c.Habit == Works && r.IntN(3) > 0 {
			p.Callers[i].Habit = Shares
		}
	}
}

// drawLosses lets calm plays lose more locks than the first flush takes.
func (p *Plan) drawLosses() {
	if len(p.Storms) > 0 {
		return
	}
	r := stream(p.Seed, ofLosses, 0)
	p.Untracked = r.IntN(3) == 0
	for at := between(r, 30*time.Second, 45*time.Second); at+poisoned < p.Lasts; at += between(r, 40*time.Second, 70*time.Second) {
		p.Faults = append(p.Faults, Fault{At: at, Lasts: poisoned, What: [...]FaultKind{Flush, Poison, Poison}[r.IntN(3)]})
	}
}

func drawFormer(seed uint64) Plan {
	r := stream(seed, ofPlan, 0)
	p := Plan{Seed: seed, Topology: topologyOf(seed), Native: r.IntN(2) == 0, Lasts: 2 * time.Minute}
	calm := r.IntN(3) == 0 && (!p.dense() || r.IntN(2) == 0)
	quiet := calm && r.IntN(3) > 0
	objects := 1 + r.IntN(2)
	switch {
	case quiet:
		objects, p.Lasts = 1, 5*time.Minute
	case calm:
		p.Lasts = time.Minute
	}
	for i := range objects {
		o := Object{Kind: kinds[r.IntN(len(kinds))], Name: fmt.Sprintf("object%d", i)}
		if o.Kind == Semaphore || o.Kind == Permits {
			o.Permits = 1 + r.IntN(4)
		}
		p.Objects = append(p.Objects, o)
	}
	p.drawClients(r, calm)
	p.drawCallers(r, quiet)
	if calm {
		p.Faults = []Fault{{At: between(r, 5*time.Second, 25*time.Second), What: Flush}}
	} else {
		p.drawStorms(r)
	}
	return p
}

// DenseFrom is the first seed whose storms have few kinds of faults each, so that a kind meets itself and the others more often. Those
// below keep the plans that they were known by.
const DenseFrom = 1 << 32

func (p *Plan) dense() bool { return p.Seed >= DenseFrom }

func (p *Plan) drawClients(r *rand.Rand, calm bool) {
	for range 2 + r.IntN(2) {
		c := Client{Courtesy: len(p.Objects) == 1, Observed: r.IntN(3) == 0}
		for at := time.Duration(0); !calm && r.IntN(4) == 0 && at < p.Lasts; {
			at = between(r, time.Second, p.Lasts)
			c.Restarts = append(c.Restarts, at)
		}
		p.Clients = append(p.Clients, c)
	}
}

func (p *Plan) drawCallers(r *rand.Rand, quiet bool) {
	workers := 1 + r.IntN(3)
	for i := range p.Clients {
		for range workers {
			o := r.IntN(len(p.Objects))
			p.Callers = append(p.Callers, Caller{Client: i, Object: o, Habit: habit(r, p.Objects, o), Quiet: quiet})
		}
	}
}

// habit draws one that suits an object.
func habit(r *rand.Rand, all []Object, i int) Habit {
	kind := all[i].Kind
	some := []Habit{Works, Works, Works, Works, Works, Works, Asks, Java}
	if kind.lock() {
		some = append(some, Leads, Shares)
		if r.IntN(3) == 0 {
			some = append(some, Forces)
		}
		if len(all) > 1 && all[0].Kind.lock() && all[1].Kind.lock() {
			some = append(some, Multi)
		}
	}
	return some[r.IntN(len(some))]
}

func (p *Plan) drawStorms(r *rand.Rand) {
	for at := time.Duration(0); at < p.Lasts; {
		s := Storm{From: at, To: at + between(r, 3*time.Second, 30*time.Second), Light: r.IntN(2) == 0}
		draw := func() FaultKind { return drawFault(r, s.Light, p.Topology) }
		if p.dense() {
			s.Light = s.Light && r.IntN(2) == 0
			some := drawSome(r, s.Light, p.Topology)
			draw = func() FaultKind { return some[r.IntN(len(some))] }
		}
		p.Storms = append(p.Storms, s)
		for at += between(r, 20*time.Millisecond, 5*time.Second); at < s.To && at < p.Lasts; at += between(r, 20*time.Millisecond, 5*time.Second) {
			p.Faults = append(p.Faults, Fault{At: at, Lasts: lasting(r), What: draw()})
		}
		at = s.To + s.settles() + lullLasts
	}
	p.drawLeaves()
	p.drawReplaced()
}

// drawLeaves has replicas leave in each ninth seed instead of some faults. The other seeds, with all that once broke a rule, have the
// faults that they had before.
func (p *Plan) drawLeaves() {
	if p.Seed%9 != 3 || p.Topology == OneServer {
		return
	}
	r := stream(p.Seed, ofLeaves, 0)
	for _, s := range p.Storms {
		for i, f := range p.Faults {
			if !s.Light && s.From <= f.At && f.At < s.To && r.IntN(4) == 0 {
				p.Faults[i].What = Leaves
			}
		}
	}
}

// drawReplaced has servers' addresses used by another cluster in each ninth seed. In its plays no account may not ask for a server's id,
// which would switch the check off, nobody is Java, who does not ask, and no client begins anew: to that one, whoever has an address of its
// URL may be its cluster.
func (p *Plan) drawReplaced() {
	if p.Seed%9 != 4 || p.Topology != Cluster {
		return
	}
	r := stream(p.Seed, ofReplaced, 0)
	for i := range p.Clients {
		p.Clients[i].Restarts = nil
	}
	for i := range p.Callers {
		if p.Callers[i].Habit == Java {
			p.Callers[i].Habit = Works
		}
	}
	for _, s := range p.Storms {
		for i, f := range p.Faults {
			if !s.Light && s.From <= f.At && f.At < s.To && (f.What == Denies || r.IntN(4) == 0) {
				p.Faults[i].What = Replaced
			}
		}
	}
}

// lasting draws how long a fault goes on: moments as well as longer than any timeout.
func lasting(r *rand.Rand) time.Duration {
	switch r.IntN(4) {
	case 0:
		return between(r, time.Millisecond, 100*time.Millisecond)
	case 1:
		return between(r, 100*time.Millisecond, 3*time.Second)
	case 2:
		return between(r, 2*time.Second, 8*time.Second)
	}
	return between(r, 5*time.Second, 45*time.Second)
}

func (p *Plan) plays(caller int) bool  { return !slices.Contains(p.WithoutCallers, caller) }
func (p *Plan) strikes(fault int) bool { return !slices.Contains(p.WithoutFaults, fault) }
