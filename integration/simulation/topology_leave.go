package simulation

import (
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// An operator takes a replica out of its set. From then on it calls itself a master, with the data that it had or, in a cluster, with
// nothing. It comes back as a replica after a while or, behind Sentinels and in a cluster, one time in three never.

// looksAgain is how long an operator waits before a command that was not obeyed is given again.
const looksAgain = time.Second

// except leaves the slice as it is for those that read it.
func except(all []server, one server) []server { return without(slices.Clone(all), one) }

// drawn chooses one of those that may be chosen; nil: there is none.
func drawn(r *rand.Rand, all []server, may func(server) bool) server {
	var some []server
	for _, s := range all {
		if may(s) {
			some = append(some, s)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[r.IntN(len(some))]
}

// operates runs an operator's command, if the server answers.
func operates(s server, args ...string) {
	if reachable(s) {
		s.Session("10.9.0.1").Do(args...)
	}
}

// leave is REPLICAOF NO ONE and, one time in two, SENTINEL RESET, without which the Sentinels make it a replica again. A Sentinel that
// is reset while it replaces the master forgets which replica it promoted. It names the former master for good then, with the epoch
// at which the others name the next one. No operator gives the command at that moment.
func (o *sentinels) leave(f Fault, r *rand.Rand) {
	s := drawn(r, o.Servers, func(s server) bool { return reachable(s) && s.Follows(o.Master()) })
	if s == nil {
		return
	}
	s.SlaveOf(nil)
	if r.IntN(2) == 0 && !o.Replaces() {
		for _, x := range o.Sentinels {
			operates(x.Server, "SENTINEL", "RESET", simredis.MasterName)
		}
	}
	if r.IntN(3) > 0 {
		o.left = append(o.left, s)
		o.w.After(f.Lasts, func() { o.comeBack(s) })
	}
}

// comeBack has a server follow the master, unless it became that itself or follows somebody already.
func (o *sentinels) comeBack(s server) {
	if !slices.Contains(o.left, s) {
		return
	}
	if m := o.Master(); s != m && !slices.ContainsFunc(o.Servers, s.Follows) {
		if !reachable(s) {
			o.w.After(looksAgain, func() { o.comeBack(s) })
			return
		}
		s.SlaveOf(m)
	}
	o.left = except(o.left, s)
}

// leave is CLUSTER FORGET at all others, one after the other, and then CLUSTER RESET.
func (o *cluster) leave(f Fault, r *rand.Rand) {
	s := drawn(r, o.Servers, func(s server) bool { return reachable(s) && !s.NoFailover && slices.ContainsFunc(o.Servers, s.Follows) })
	if s == nil {
		return
	}
	s.NoFailover = true // a server that wins an election while the others forget it would be the master of nobody
	id, _ := s.Command("MYID").(string)
	for _, x := range o.Servers {
		o.w.After(between(r, 0, 400*time.Millisecond), func() { x.Command("FORGET", id) })
	}
	returns := r.IntN(3) > 0
	o.w.After(500*time.Millisecond, func() {
		if slices.Contains(o.Masters(), s) { // it had been elected already
			o.meet(s)
			s.NoFailover = false
			return
		}
		o.Servers = except(o.Servers, s)
		o.reset(s)
		if returns {
			o.left = append(o.left, s)
			o.w.After(f.Lasts, func() { o.comeBack(s) })
		}
	})
}

// reset makes a server forget the cluster as soon as it answers.
func (o *cluster) reset(s server) {
	if !reachable(s) {
		o.w.After(looksAgain, func() { o.reset(s) })
		return
	}
	s.Command("RESET")
}

// meet introduces a server to all others.
func (o *cluster) meet(s server) {
	for _, x := range o.Servers {
		if x != s {
			host, port, _ := net.SplitHostPort(x.Addr)
			s.Command("MEET", host, port)
		}
	}
}

// comeBack has a server that left be a replica again.
func (o *cluster) comeBack(s server) {
	if !slices.Contains(o.left, s) {
		return
	}
	o.left = except(o.left, s)
	o.Servers = append(o.Servers, s)
	o.joins(s)
}

// joins has a server meet the others, and follow the master that has the fewest replicas.
func (o *cluster) joins(s server) {
	o.meet(s)
	o.w.After(looksAgain, func() {
		var to server
		fewest := 0
		for _, m := range o.Masters() {
			n := 0
			for _, x := range o.Servers {
				if x.Follows(m) {
					n++
				}
			}
			if to == nil || n < fewest {
				to, fewest = m, n
			}
		}
		if to != nil {
			id, _ := to.Command("MYID").(string)
			s.Command("REPLICATE", id)
		}
		if slices.ContainsFunc(o.Servers, s.Follows) {
			s.NoFailover = false
			return
		}
		o.joins(s)
	})
}
