package lockstate

import (
	"fmt"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/topology"
)

// noteRelease records in the name's fair share, which may be new, that this client
// releases its last hold of it. If it is time, it counts the clients that want the
// name.
func (n *name) noteRelease(l *Lock, isNew bool) {
	now := n.now()
	q := n.findQueue(l, Owner{})
	if isNew && q != nil {
		q.Use(n.fairShare)
	}
	listens := q != nil && q.Listening()
	n.fairShare.Released(now, listens)
	if !n.l.c.noClientCounts.Load() && n.fairShare.CountDue(now) {
		n.countClients(l, listens)
	}
}

// countClients asks how many clients are subscribed to the name's channel. All
// that wait for it are. The command travels with the unlock. Where there are two
// kinds of channel it asks for both, and takes the larger number: who listens to
// both, as this library does, must not count twice. The last answer decides. listens
// says that this client is among them.
func (n *name) countClients(l *Lock, listens bool) {
	share, questions := n.fairShare, l.c.top.Subscriptions(l.slot)
	open, most, failed := len(questions), 0, false // guarded by the shard's mutex
	for _, s := range questions {
		l.askLater(l.countCall(s), n.now(), func(reply any, err error) {
			clients, err := listeners(reply, err)
			if command.IsRefusal(err) { // courtesy can do without
				l.c.noClientCounts.Store(true)
			}
			defer l.s.enter(mustNotBlock).leave()
			open, most, failed = open-1, max(most, clients), failed || err != nil
			switch {
			case open > 0:
			case failed:
				share.CountFailed()
			case listens:
				share.SetClients(most)
			default:
				share.SetClients(most + 1)
			}
		})
	}
}

// countCall counts the channel's subscribers of such a sort.
func (l *Lock) countCall(s topology.Subscription) kind.Call {
	by := "NUMSUB"
	if s.Sharded {
		by = "SHARDNUMSUB"
	}
	return kind.Read("PUBSUB", by, l.kind.Channel(&l.names, nil))
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
