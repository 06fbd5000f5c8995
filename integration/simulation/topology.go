package simulation

import (
	"math/rand/v2"

	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

type server = *simredis.Server

// site is the servers of a play. Its methods are called with the world's lock held.
type site interface {
	url() string
	servers() []server
	masters() []server
	// master is the server whose data of a key count, and to which a client is led now. Others may not have heard of it yet.
	master(key string) server
	// planned begins a failover while all servers live.
	planned(r *rand.Rand)
	// disturb does something to those that elect the master, or to a replica; heal ends it, unless a replica has left for good.
	disturb(f Fault, r *rand.Rand)
	heal()
	failovers() int
	// torn says whether a former master answers that has not heard of its end.
	torn() bool
	// replicated says whether changes wait for replicas.
	replicated() bool
}

func newSite(on Topology, w *simnet.World, promoted func(former, next server)) site {
	switch on {
	case Sentinel1, Sentinel2:
		set := simredis.NewSet(w, int(on[len(on)-1]-'0'), 3)
		set.Promoted = promoted
		return &sentinels{Set: set, w: w}
	}
	if on == Replicated {
		return newReplicated(w, promoted)
	}
	if on == Cluster {
		return newCluster(w, promoted)
	}
	return &single{simredis.New(w, "10.0.0.1:6379")}
}

type single struct{ s server }

func (o *single) url() string               { return "redis://" + o.s.Addr }
func (o *single) servers() []server         { return []server{o.s} }
func (o *single) masters() []server         { return []server{o.s} }
func (o *single) master(string) server      { return o.s }
func (o *single) planned(*rand.Rand)        {}
func (o *single) disturb(Fault, *rand.Rand) {}
func (o *single) heal()                     {}
func (o *single) failovers() int            { return 0 }
func (o *single) torn() bool                { return false }
func (o *single) replicated() bool          { return false }

type sentinels struct {
	*simredis.Set
	w    *simnet.World
	left []server // replicas that call themselves masters, and that come back
}

func (o *sentinels) url() string          { return o.URL() }
func (o *sentinels) servers() []server    { return o.Servers }
func (o *sentinels) masters() []server    { return []server{o.Master()} }
func (o *sentinels) master(string) server { return o.Master() }
func (o *sentinels) planned(*rand.Rand)   { o.Failover() }
func (o *sentinels) failovers() int       { return o.Failovers }
func (o *sentinels) torn() bool           { return false } // it is told as soon as it can be reached

func (o *sentinels) disturb(f Fault, r *rand.Rand) {
	if f.What == Leaves {
		o.leave(f, r)
		return
	}
	s := o.Sentinels[r.IntN(len(o.Sentinels))]
	switch {
	case !s.Running() || s.Paused:
	case r.IntN(3) == 0:
		s.Paused = true
		o.w.After(f.Lasts, func() {
			if s.Paused {
				s.Resume()
			}
		})
	case r.IntN(2) == 0: // another one in its place, that knows the master's address alone
		s.Kill(false)
		o.w.After(f.Lasts, func() {
			if !s.Running() {
				s.StartAnew(o.Master().Addr)
			}
		})
	default:
		kept := s.Remember()
		s.Kill(r.IntN(2) == 0)
		o.w.After(f.Lasts, func() {
			if !s.Running() {
				s.StartRemembering(kept)
			}
		})
	}
}

func (o *sentinels) heal() {
	for _, s := range o.Sentinels {
		switch {
		case !s.Running():
			s.StartAnew(o.Master().Addr)
		case s.Paused:
			s.Resume()
		}
	}
	for _, s := range o.left {
		o.comeBack(s)
	}
}
func (o *sentinels) replicated() bool { return true }
