package rlock

import (
	"fmt"
	"hash/maphash"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/courtesy"
	"github.com/rlock-go/redisson/internal/pipeline"
)

const (
	// A name is taken again and again after so many releases of this client,
	// each hold having begun soon after the one before. Only then is it asked
	// who else wants it. Where holds are long, fewer tell as much and asking
	// costs nothing beside them.
	oftenCount = 8
	oftenLong  = 3
	oftenGap   = time.Second
	longHold   = 50 * time.Millisecond

	// shortHold is below what stepping back is worth: one turn of a slow client
	// would cost many of these.
	shortHold = 500 * time.Microsecond

	mostKept = 64 // of a shard; more names have none
	keptFor  = 10 * time.Second
)

// turn is how this client stands with a name that it releases often.
type turn struct {
	courtesy.Turn
	used   time.Duration
	asking bool // a count of the clients is under way
}

// kept are the turns of one shard, guarded by its mutex. Names come and go with
// each lock; turns stay for a while.
type kept struct {
	of     map[string]*turn
	habits [8]habit
}

// habit counts releases in a row, of whichever name last came to its place.
type habit struct {
	tag   uint32
	count uint32
	last  time.Duration
}

// often counts a release of key, held since an instant, and tells whether there
// have been many in a row.
func (ts *kept) often(key string, since, now time.Duration) bool {
	hash := maphash.String(shardSeed, key) / shardCount
	h := &ts.habits[hash%uint64(len(ts.habits))]
	if tag := uint32(hash >> 16); h.tag != tag || since-h.last > oftenGap {
		*h = habit{tag: tag}
	}
	h.last = now
	h.count++
	return h.count >= oftenCount || now-since >= longHold && h.count >= oftenLong
}

// add makes the turn of key, unless there are too many already.
func (ts *kept) add(key string, now time.Duration) *turn {
	if ts.of == nil {
		ts.of = map[string]*turn{}
	}
	if len(ts.of) >= mostKept/2 {
		for k, t := range ts.of {
			if now-t.used > keptFor {
				delete(ts.of, k)
			}
		}
	}
	if len(ts.of) >= mostKept {
		return nil
	}
	t := &turn{used: now}
	ts.of[key] = t
	return t
}

// took notes that this client has come to hold the name.
func (n *name) took() {
	if t := n.turn; t != nil {
		t.Granted(n.c.early())
	}
}

// letGo notes that this client's last hold of the name, held since an instant,
// is being released, and has the clients counted that want it, if it is time
// to.
func (n *name) letGo(since time.Duration) {
	if !n.c.o.courtesy {
		return
	}
	now := n.c.early()
	t := n.turn
	if t == nil {
		key := n.l.mapped()
		if !n.s.turns.often(key, since, now) {
			return
		}
		if t = n.s.turns.add(key, now); t == nil {
			return
		}
		n.turn = t
		t.Granted(since)
	}
	t.used = now
	listens := n.queue != nil && n.queue.confirmed
	t.Released(now, listens)
	if !t.asking && !n.c.blind.Load() && t.Ask(now) {
		n.count(t, listens)
	}
}

// count asks how many listen for the name's releases; whoever waits for it
// does. It rides along with the unlock.
func (n *name) count(t *turn, listens bool) {
	c, s := n.c, n.s
	t.asking = true
	r := &pipeline.Request{Command: "PUBSUB"}
	r.Args = append(r.Words[:0], "NUMSUB", n.l.channel)
	r.Done = pipeline.CompletionFunc(func(r *pipeline.Request) {
		clients, err := listeners(r.Reply, r.Err)
		if refusal, refused := r.Err.(redis.Error); refused && !passing(refusal) {
			// The server does not let us see. It is only a courtesy.
			c.blind.Store(true)
		}
		s.lock()
		defer s.unlock()
		t.asking = false
		if err != nil {
			return
		}
		if !listens {
			clients++
		}
		t.Clients(clients)
	})
	c.node.pipe.Enqueue(r)
}

// listeners reads the answer to PUBSUB NUMSUB of one channel.
func listeners(reply any, err error) (int, error) {
	pair, err := redis.Values(reply, err)
	if err != nil {
		return 0, err
	}
	if len(pair) != 2 {
		return 0, fmt.Errorf("PUBSUB NUMSUB was answered with %d elements", len(pair))
	}
	return redis.Int(pair[1], nil)
}

// yieldUntil is the instant before which w, the head, makes no attempt, so that a
// slower client may; 0 if it may try. Who has little time left does not yield,
// nor does a shared owner, which may be the holder.
func (q *waitQueue) yieldUntil(w *waiter) time.Duration {
	t := q.n.turn
	if t == nil || w.terms.as || t.Hold() < shortHold {
		return 0
	}
	now := q.n.c.early()
	if w.until > 0 && w.until-now < 2*t.Patience() {
		return 0
	}
	return t.Until(now)
}
