package rlock

import (
	"fmt"
	"hash/maphash"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/courtesy"
)

const (
	// The clients that want a name are counted only after this client has
	// released it so many times in a row, each hold having begun soon after the
	// one before. For long holds fewer releases are enough, since counting
	// costs little beside them.
	oftenCount = 8
	oftenLong  = 3
	oftenGap   = time.Second
	longHold   = 50 * time.Millisecond

	// Below shortHold a client does not step back: one acquisition of a slow
	// client would cost many of its own.
	shortHold = 500 * time.Microsecond

	maxFairShares = 64 // of a shard; more names have none
	fairShareTTL  = 10 * time.Second
)

// fairShare is this client's standing with a name that it releases often.
type fairShare struct {
	courtesy.FairShare
	used     time.Duration
	counting bool // a count of the clients is under way
}

// fairShareTable has the fair shares of one shard, guarded by its mutex. They
// outlive the state of their names for a while.
type fairShareTable struct {
	shares   map[string]*fairShare
	counters [8]releaseCounter
}

// releaseCounter counts releases in a row of one name. Names with the same
// place share it, and the latest begins anew.
type releaseCounter struct {
	tag   uint32
	count uint32
	last  time.Duration
}

// countRelease counts a release of key, held since an instant. It tells whether
// there have been many in a row.
func (table *fairShareTable) countRelease(key string, since, now time.Duration) bool {
	hash := maphash.String(shardSeed, key) / shardCount
	h := &table.counters[hash%uint64(len(table.counters))]
	if tag := uint32(hash >> 16); h.tag != tag || since-h.last > oftenGap {
		*h = releaseCounter{tag: tag}
	}
	h.last = now
	h.count++
	return h.count >= oftenCount || now-since >= longHold && h.count >= oftenLong
}

// add makes the fair share of key, unless there are too many already.
func (table *fairShareTable) add(key string, now time.Duration) *fairShare {
	if table.shares == nil {
		table.shares = map[string]*fairShare{}
	}
	if len(table.shares) >= maxFairShares/2 {
		for k, share := range table.shares {
			if now-share.used > fairShareTTL {
				delete(table.shares, k)
			}
		}
	}
	if len(table.shares) >= maxFairShares {
		return nil
	}
	share := &fairShare{used: now}
	table.shares[key] = share
	return share
}

// noteGrant records that this client holds the name now.
func (n *name) noteGrant() {
	if share := n.fairShare; share != nil {
		share.Granted(n.c.early())
	}
}

// noteRelease records that this client releases its last hold of the name, held
// since an instant. If it is time, it counts the clients that want the name.
func (n *name) noteRelease(since time.Duration) {
	if !n.c.o.courtesy {
		return
	}
	now := n.c.early()
	share := n.fairShare
	if share == nil {
		key := n.l.mapped()
		if !n.s.fairShares.countRelease(key, since, now) {
			return
		}
		if share = n.s.fairShares.add(key, now); share == nil {
			return
		}
		n.fairShare = share
		share.Granted(since)
	}
	share.used = now
	listens := n.queue != nil && n.queue.confirmed
	share.Released(now, listens)
	if !share.counting && !n.c.noClientCounts.Load() && share.CountDue(now) {
		n.countClients(share, listens)
	}
}

// countClients asks how many clients are subscribed to the name's channel. All
// that wait for it are. The command travels with the unlock.
func (n *name) countClients(share *fairShare, listens bool) {
	c, s := n.c, n.s
	share.counting = true
	r := &command.Request{Resend: command.Read} // it changes nothing, and its time is over at once
	r.Command("PUBSUB", append(r.Room(), "NUMSUB", n.l.channel)...)
	r.Handler = command.DoneFunc(func(r *command.Request) {
		clients, err := listeners(r.Reply(), r.Err())
		if r.Fate() == command.Refused && !r.Passing() {
			// The server refuses to count subscribers. Courtesy can do without.
			c.noClientCounts.Store(true)
		}
		s.lock()
		defer s.unlock()
		share.counting = false
		if err != nil {
			return
		}
		if !listens {
			clients++
		}
		share.SetClients(clients)
	})
	c.node.exec.Enqueue(r)
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

// yieldUntil is the instant before which w, the head, makes no attempt, so that
// a slower client can. It is 0 if w may try now. A waiter with little time left
// does not yield, nor does a shared owner, which may be the holder.
func (q *waitQueue) yieldUntil(w *waiter) time.Duration {
	share := q.n.fairShare
	if share == nil || w.terms.as || share.AverageHold() < shortHold {
		return 0
	}
	now := q.n.c.early()
	if w.until > 0 && w.until-now < 2*share.Patience() {
		return 0
	}
	return share.YieldUntil(now)
}
