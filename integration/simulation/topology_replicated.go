package simulation

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// An operator looks at a replicated set each operatorLooks, and replaces a master that has not answered for operatorWaits.
const (
	operatorLooks = time.Second
	operatorWaits = 5 * time.Second
)

// replicated is a master and its replicas without Sentinels. An operator changes their roles, and tells nobody.
type replicated struct {
	*simredis.Set
	w        *simnet.World
	promoted func(former, next server)
	promotes int       // how often the operator has chosen another master
	chosen   server    // the master, as the operator has it
	silent   time.Time // since when it does not answer; zero: it does
	left     []server  // those that the operator has taken out
}

func newReplicated(w *simnet.World, promoted func(former, next server)) *replicated {
	o := &replicated{Set: simredis.NewSet(w, 2, 0), w: w, promoted: promoted}
	o.chosen = o.Servers[0]
	w.After(operatorLooks, o.tend)
	return o
}

// tend replaces a master that is gone, and lets all others follow the master, such as a former one that is back.
func (o *replicated) tend() {
	o.w.After(operatorLooks, o.tend)
	switch {
	case reachable(o.chosen):
		o.silent = time.Time{}
	case o.silent.IsZero():
		o.silent = time.Now()
	case time.Since(o.silent) >= operatorWaits:
		o.promote(func(a, b server) bool { return a.Replicated() > b.Replicated() })
	}
	for _, s := range o.Servers {
		if s == o.chosen || !reachable(s) || slices.Contains(o.left, s) {
			continue
		}
		if o.rivals(s) {
			o.promoted(s, o.chosen) // what it granted meanwhile is lost now
		}
		s.SlaveOf(o.chosen)
	}
}

// rivals reports whether s is a former master that answers as one.
func (o *replicated) rivals(s server) bool {
	return s != o.chosen && reachable(s) && !slices.ContainsFunc(o.Servers, s.Follows)
}

func reachable(s server) bool { return s.Running() && !s.Paused }

// promote makes the best of the replicas that answer the master.
func (o *replicated) promote(better func(a, b server) bool) {
	var best server
	for _, s := range o.Servers {
		if s != o.chosen && reachable(s) && !slices.Contains(o.left, s) && (best == nil || better(s, best)) {
			best = s
		}
	}
	if best == nil {
		return
	}
	former := o.chosen
	o.silent, o.chosen = time.Time{}, best
	best.SlaveOf(nil) // the others follow it when the operator looks again
	o.promotes++
	o.promoted(former, best)
}

// disturb is REPLICAOF NO ONE at a replica. It calls itself a master then, and so the set has two for whoever asks it, until the
// operator takes it back. None leaves for good, since the URL would go on to list it, nor stays away when the master dies or is busy:
// clients would follow it, as the only one that says that it is a master.
func (o *replicated) disturb(f Fault, r *rand.Rand) {
	s := drawn(r, o.Servers, func(s server) bool { return reachable(s) && s.Follows(o.chosen) })
	if s == nil || !o.chosen.Running() || o.chosen.Busy {
		return
	}
	s.SlaveOf(nil)
	o.left = append(o.left, s)
	o.w.After(f.Lasts, func() { o.left = except(o.left, s) })
}

// takeBack has all that have left follow the master again.
func (o *replicated) takeBack() {
	for _, s := range o.left {
		s.SlaveOf(o.chosen)
	}
	o.left = nil
}

func (o *replicated) url() string {
	var all []string
	for _, s := range o.Servers {
		all = append(all, s.Addr)
	}
	return "redis+replicated://" + strings.Join(all, ",")
}
func (o *replicated) servers() []server    { return o.Servers }
func (o *replicated) masters() []server    { return []server{o.chosen} }
func (o *replicated) master(string) server { return o.chosen }
func (o *replicated) heal()                { o.left = nil }
func (o *replicated) failovers() int       { return o.promotes }
func (o *replicated) torn() bool           { return slices.ContainsFunc(o.Servers, o.rivals) }
func (o *replicated) replicated() bool     { return true }

// planned has two masters until the operator looks again.
func (o *replicated) planned(r *rand.Rand) {
	o.promote(func(server, server) bool { return r.IntN(2) == 0 })
}
