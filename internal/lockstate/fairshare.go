package lockstate

import (
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/wakepolicy"
)

// noteGrant records that this client holds the name now.
func (n *name) noteGrant(l *Lock) {
	if share := n.fairShare; share != nil && l.traits.FairShare {
		share.Granted(n.now())
	}
}

// noteRelease records that this client releases its last hold of the name, held
// since an instant. If it is time, it counts the clients that want the name.
func (n *name) noteRelease(l *Lock, since time.Duration) {
	if !n.c.o.Courtesy || !l.traits.FairShare {
		return
	}
	now, q := n.now(), n.findQueue(l, Owner{})
	if n.fairShare == nil {
		if n.fairShare = n.s.fairShares.Released(n.l.Key(), since, now); n.fairShare == nil {
			return
		}
		if q != nil {
			q.Use(n.fairShare)
		}
	}
	listens := q != nil && q.Listening()
	n.fairShare.Released(now, listens)
	if !n.c.noClientCounts.Load() && n.fairShare.CountDue(now) {
		n.countClients(l, n.fairShare, listens)
	}
}

// countClients asks how many clients are subscribed to the name's channel. All
// that wait for it are. The command travels with the unlock.
func (n *name) countClients(l *Lock, share *wakepolicy.FairShare, listens bool) {
	c, s := n.c, n.s
	r := &command.Request{Resend: command.Read, Slot: l.slot} // it changes nothing, and its time is over at once
	r.Command("PUBSUB", append(r.Wire.ArgBuffer[:0], "NUMSUB", l.kind.Channels(&l.names, nil)[0])...)
	r.Handler = command.DoneFunc(func(r *command.Request) {
		clients, err := listeners(r.Wire.Reply, r.Wire.Err)
		if r.Fate == command.Refused && !r.Passing() {
			// The server refuses to count subscribers. Courtesy can do without.
			c.noClientCounts.Store(true)
		}
		defer s.enter(mustNotBlock).leave()
		if err != nil {
			share.CountFailed()
			return
		}
		if !listens {
			clients++
		}
		share.SetClients(clients)
	})
	s.sec.enqueue(r)
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
