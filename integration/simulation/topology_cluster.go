package simulation

import (
	"math/rand/v2"
	"slices"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// cluster has three masters, each with a replica.
type cluster struct {
	*simredis.Cluster
	w    *simnet.World
	from string   // its URL, which stays when servers leave
	left []server // those that left, and that come back

	stranger *stranger // that has the address of one of them; nil: none has
}

func newCluster(w *simnet.World, promoted func(former, next server)) *cluster {
	o := &cluster{Cluster: simredis.NewCluster(w, 3, 1), w: w}
	o.Promoted, o.from = promoted, o.URL()
	return o
}

func (o *cluster) url() string       { return o.from }
func (o *cluster) servers() []server { return o.Servers }
func (o *cluster) masters() []server { return o.Masters() }

func (o *cluster) master(key string) server {
	if m := o.Master(key); m != nil {
		return m
	}
	return o.Servers[0]
}

func (o *cluster) failovers() int   { return o.Failovers }
func (o *cluster) torn() bool       { return false } // its neighbours tell it at once
func (o *cluster) replicated() bool { return true }

func (o *cluster) planned(r *rand.Rand) {
	replicas := slices.DeleteFunc(slices.Clone(o.Servers), func(s server) bool { return slices.Contains(o.Masters(), s) || !reachable(s) || s.NoFailover })
	if len(replicas) > 0 {
		replicas[r.IntN(len(replicas))].Session("10.9.0.1").Do("CLUSTER", "FAILOVER")
	}
}

// disturb moves the slot of an object to another master, or takes a replica out.
func (o *cluster) disturb(f Fault, r *rand.Rand) {
	if f.What == Leaves {
		o.leave(f, r)
		return
	}
	masters := o.Masters()
	o.Move(codec.Slot([]string{"object0", "object1"}[r.IntN(2)]), masters[r.IntN(len(masters))], nil)
}

func (o *cluster) heal() {
	o.restore()
	for _, s := range o.left {
		o.comeBack(s)
	}
}
