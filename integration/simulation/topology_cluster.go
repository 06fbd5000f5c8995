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
	w *simnet.World
}

func (o *cluster) url() string       { return o.URL() }
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
	replicas := slices.DeleteFunc(slices.Clone(o.Servers), func(s server) bool { return slices.Contains(o.Masters(), s) || !s.Running() || s.Paused })
	if len(replicas) > 0 {
		replicas[r.IntN(len(replicas))].Session("10.9.0.1").Do("CLUSTER", "FAILOVER")
	}
}

// disturb moves the slot of an object to another master.
func (o *cluster) disturb(_ Fault, r *rand.Rand) {
	masters := o.Masters()
	o.Move(codec.Slot([]string{"object0", "object1"}[r.IntN(2)]), masters[r.IntN(len(masters))], nil)
}

func (o *cluster) heal() {}
