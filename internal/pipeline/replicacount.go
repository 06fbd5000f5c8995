package pipeline

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// How many replicas a WAIT is for, n, depends on who may take the master's place.
// Where nobody does, n is how many are online. Where one may (Replicas.Known), a
// count that falls means nothing by itself: the former master of a failover takes
// writes for seconds, and its replicas have left it. There n falls by the word of the
// topology:
//
//	state    n                      until
//	agreed   as many as are online  fewer are: missing
//	missing  as many as were        as many are again: agreed
//	                                there were some, but fewer, for a minute: agreed
//	                                the topology says that the master stays: vouched
//	vouched  as many as were        as many are again, or a minute has passed: agreed
//	                                the topology says so again: agreed
//	                                it does not, or one more is gone: missing
//
// The first server of a client begins with as many as the topology knows, if that
// is more than are online.
type replicaCount struct {
	keeps  bool // n falls by the word of the topology only
	state  standing
	n      int           // what WAIT asks for
	online []string      // where they are, as they were counted last
	seen   []string      // where those were that n was agreed on with
	loss   int           // numbers the losses: a word is about one of them
	fewer  time.Duration // since when some, but fewer, are online; 0: not so
}

type standing uint8

const (
	agreed standing = iota
	missing
	vouched
)

// fewerFor is how long fewer replicas must be online before they count as all that
// there are.
const fewerFor = time.Minute

// counted takes the replicas that are online.
func (r *replicaCount) counted(online []string, now time.Duration) {
	switch {
	case !r.keeps || len(online) >= r.n:
		r.agree(online)
		return
	case r.state == agreed || len(without(r.online, online)) > 0:
		r.state = missing
		r.loss++
	}
	r.online = online
	switch {
	case len(online) == 0:
		r.fewer = 0
	case r.fewer == 0:
		r.fewer = max(now, 1)
	case now-r.fewer >= fewerFor:
		r.agree(online)
	}
}

// told takes the topology's word about a loss.
func (r *replicaCount) told(stays bool, loss int) {
	switch {
	case r.state == agreed || loss != r.loss:
	case !stays:
		r.state = missing
	case r.state == missing:
		r.state = vouched
	default:
		r.agree(r.online)
	}
}

func (r *replicaCount) agree(online []string) {
	r.state, r.n, r.online, r.seen, r.fewer = agreed, len(online), online, online, 0
}

// without is what a has and b has not.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(one string) bool { return slices.Contains(b, one) })
}

// Replicas has the count of the server that a node leads to. The node's pipelines
// share it: what one has seen counts for the other. The zero value is ready.
type Replicas struct {
	// Known returns the replicas that the Sentinels, or the other masters, know. It must
	// not block. With it the count falls only as Node.Stays says; nil: no server can be
	// asked.
	Known func() []string

	lists atomic.Int64 // how many the topology lists

	mu  sync.Mutex // guards now
	now *tally
}

// listed is how many the topology lists. Some of them may not be fed so far.
func (s *Replicas) listed() int { return int(s.lists.Load()) }

// tally is the count of one server. Connections to it share it.
type tally struct {
	at server // guarded by Replicas.mu

	mu     sync.Mutex // guards what follows; held for moments
	count  replicaCount
	asking bool  // somebody asks the topology about a loss
	doubt  error // why it does not say that the master stays; nil: it was not asked, or says so
}

// of finds the tally of a server, or begins one. One that is in the place of the last
// was restarted, and its replicas come back.
func (s *Replicas) of(at server) *tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.now == nil
	if first || at.another(s.now.at) && at.place != s.now.at.place {
		s.now = &tally{count: replicaCount{keeps: s.Known != nil}}
		if first && s.Known != nil {
			s.now.count.seen = s.Known()
			s.now.count.n = len(s.now.count.seen)
		}
	}
	s.now.at = at
	return s.now
}

// expects tells how many replicas a WAIT is for, and whether any is online. Without a
// tally nobody is waited for.
func (t *tally) expects() (n int, any bool) {
	if t == nil {
		return 0, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count.n, len(t.count.online) > 0
}

// counted takes who is online. It tells whether to count again soon, and whether
// the caller is to ask the topology, until nothing is left to ask.
func (t *tally) counted(online []string, now time.Duration) (soon, ask bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count.counted(online, now)
	if t.count.state == agreed {
		t.doubt = nil
	}
	soon = t.count.n == 0 || t.count.state != agreed
	ask = t.count.state != agreed && !t.asking
	t.asking = t.asking || ask
	return soon, ask
}

// question is what to ask the topology: about this loss, of these servers.
func (t *tally) question() (loss int, gone []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count.loss, without(t.count.seen, t.count.online)
}

// told takes the answer. It tells whether to ask again.
func (t *tally) told(doubt error, loss int) (again bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.doubt = doubt
	t.count.told(doubt == nil, loss)
	t.asking = t.count.state == vouched
	return t.asking
}
