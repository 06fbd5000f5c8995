package lockstate

import (
	"fmt"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/internal/wakepolicy"
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
		n.countClients(l, n.fairShare, listens)
	}
}

// countClients asks how many clients are subscribed to the name's channel. All
// that wait for it are. The command travels with the unlock. Where there are two
// kinds of channel it asks for both, and takes the larger number: who listens to
// both, as this library does, must not count twice.
func (n *name) countClients(l *Lock, share *wakepolicy.FairShare, listens bool) {
	all := &clientCount{n: n, share: share, listens: listens}
	for _, s := range n.l.c.top.Subscriptions(l.slot) {
		all.ask(l, countedBy(s))
	}
}

// countedBy is the subcommand of PUBSUB that counts such subscribers.
func countedBy(s topology.Subscription) string {
	if s.Sharded {
		return "SHARDNUMSUB"
	}
	return "NUMSUB"
}

// clientCount is one count of a name's clients. All but the first three is guarded
// by the shard's mutex.
type clientCount struct {
	n       *name
	share   *wakepolicy.FairShare
	listens bool // this client is among them

	open   int // questions without an answer
	most   int
	failed bool
}

// ask asks one question, once. It is called with the shard locked.
func (k *clientCount) ask(l *Lock, sort string) {
	k.open++
	l.askLater(kind.Read("PUBSUB", []any{sort, l.kind.Channel(&l.names, nil)}), k.n.now(), func(reply any, err error) {
		clients, err := listeners(reply, err)
		if command.IsRefusal(err) { // courtesy can do without
			l.c.noClientCounts.Store(true)
		}
		defer l.s.enter(mustNotBlock).leave()
		k.answered(clients, err)
	})
}

// answered takes the end of one question. The last one decides.
func (k *clientCount) answered(clients int, err error) {
	k.most = max(k.most, clients)
	k.failed = k.failed || err != nil
	if k.open--; k.open > 0 {
		return
	}
	if k.failed {
		k.share.CountFailed()
		return
	}
	if !k.listens {
		k.most++
	}
	k.share.SetClients(k.most)
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
