package pipeline

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A WAIT asks for n replicas. If no other server can take the master's place, n is how
// many replicas are online. If one can (Replicas.Known), a falling count proves nothing:
// during a failover the former master takes writes for seconds after its replicas have
// left it. Then the topology is asked whether the master stays, and n falls like this:
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
// n begins with the number that the topology knows, if that is more than are online. At a
// client's first server WAIT asks for n. At a later one, the replicas come a moment after
// the failover, and may be sent a full copy. One of them may be promoted before it has more
// than that copy. Locks don't wait for this after each failover: until n is agreed, WAIT
// asks for as many as have been online. Only what no lease ends needs n.
//
// tally is the count of one server. Connections to it share it.
type tally struct {
	at    server // guarded by Replicas.mu
	keeps bool   // n falls as the table says; never changes

	mu     sync.Mutex // guards the fields below; held only for moments
	early  bool       // it is a later server of the client, and n was not agreed yet
	state  standing
	n      int           // what WAIT asks for, unless early
	most   int           // how many have been online at once
	online []string      // addresses of the replicas at the last count
	seen   []string      // their addresses when n was agreed
	loss   int           // number of the latest loss; each answer is about one loss
	lost   time.Duration // when that was
	fewer  time.Duration // since when some, but fewer than n, are online; 0: not so
	asking bool          // a goroutine asks the topology about a loss
	doubt  error         // why the topology does not confirm that the master stays; nil: it confirms, or was not asked
}

type standing uint8

const (
	agreed standing = iota
	missing
	vouched
)

// fewerFor is how long fewer replicas must be online until n falls to their number.
const fewerFor = time.Minute

// promotedFor is how long a lost replica may be the next master without the topology's
// knowledge. If it is a master later, it is one of something else.
const promotedFor = time.Minute

// counted takes the result of a count: the replicas that are online. It reports whether to count
// again soon, and whether the caller must ask the topology, as askOfLoss does.
func (t *tally) counted(online []string, now time.Duration) (soon, ask bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.most = max(t.most, len(online))
	if !t.keeps || len(online) >= t.n {
		t.agree(online)
	} else {
		if t.state == agreed || len(without(t.online, online)) > 0 {
			t.state = missing
			t.loss++
			t.lost = now
		}
		t.online = online
		switch {
		case len(online) == 0:
			t.fewer = 0
		case t.fewer == 0:
			t.fewer = max(now, 1)
		case now-t.fewer >= fewerFor:
			t.agree(online)
		}
	}
	if t.state == agreed {
		t.doubt = nil
	}
	soon = t.asks() == 0 || t.state != agreed
	ask = t.state != agreed && !t.asking
	t.asking = t.asking || ask
	return soon, ask
}

// told takes the topology's answer about a loss: why it is in doubt that the master stays. It
// reports whether to ask again.
func (t *tally) told(doubt error, loss int) (again bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.doubt = doubt
	switch {
	case t.state == agreed || loss != t.loss:
	case doubt != nil:
		t.state = missing
	case t.state == missing:
		t.state = vouched
	default:
		t.agree(t.online)
	}
	t.asking = t.state == vouched
	return t.asking
}

// agree is called with mu held, as asks is.
func (t *tally) agree(online []string) {
	t.state, t.n, t.online, t.seen, t.fewer, t.early = agreed, len(online), online, online, 0, false
}

// asks is how many replicas a WAIT asks for.
func (t *tally) asks() int {
	if t.early {
		return t.most
	}
	return t.n
}

// without returns the elements of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(one string) bool { return slices.Contains(b, one) })
}

// Replicas has the replica count of the server that a node leads to. The node's
// pipelines share it, so a count by one of them holds for the other. The zero value is
// ready.
type Replicas struct {
	// Known returns the replicas that the Sentinels, or the other masters, know. It must
	// not block. With Known the count falls only after Node.Stays was asked, or a minute
	// after fewer replicas are back. Nil means that no server can be asked.
	Known func() []string

	lists  atomic.Int64 // how many the topology lists; some may not be replicating yet
	hidden atomic.Bool  // the server refused to list them

	mu  sync.Mutex // guards now
	now *tally
}

// Hidden tells whether the server refuses to list its replicas.
func (s *Replicas) Hidden() bool { return s.hidden.Load() }

// of returns the tally of a server, a new one if needed. A server in the same place as
// the last one is that server restarted, and keeps its tally: its replicas come back.
func (s *Replicas) of(at server) *tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.now == nil
	if first || at.another(s.now.at) && at.place != s.now.at.place {
		s.now = &tally{keeps: s.Known != nil, early: !first}
		if s.Known != nil {
			s.now.seen = s.Known()
			s.now.n = len(s.now.seen)
		}
	}
	s.now.at = at
	return s.now
}

// expects returns how many replicas a WAIT asks for, and whether any is online. Without
// a tally they are 0 and false.
func (t *tally) expects() (n int, any bool) {
	if t == nil {
		return 0, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asks(), len(t.online) > 0
}

// lasting returns how many replicas must acknowledge what no lease ends, or 0 if WAIT asks
// for as many.
func (t *tally) lasting() int {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.early {
		return 0
	}
	return t.n
}

// question returns the number of the loss to ask about, and the replicas that are gone:
// those that may have been promoted.
func (t *tally) question(now time.Duration) (loss int, gone []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now-t.lost < promotedFor {
		gone = without(t.seen, t.online)
	}
	return t.loss, gone
}
