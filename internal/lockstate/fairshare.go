package lockstate

import (
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/owner"
)

// noteRelease records in the name's fair share that this client releases its last hold of the
// name. If a count is due, it counts the clients that want the name.
func (n *name) noteRelease(l *Lock) {
	now := n.now()
	q := n.findQueue(l, owner.Owner{})
	if q != nil {
		q.Use(n.fairShare)
	}
	listens := q != nil && q.Listening()
	n.fairShare.Released(now, listens)
	if !n.l.c.noClientCounts.Load() && n.fairShare.CountDue(now) {
		n.countClients(l, listens)
	}
}

// countClients asks how many clients are subscribed to the name's channel, as all that wait for
// it are. The command travels with the unlock. Where there are two kinds of channel it asks for
// both and takes the larger number: a client that subscribes to both, as this library does,
// must not count twice. The count is complete with the last reply. listens says that this
// client is among the subscribers.
func (n *name) countClients(l *Lock, listens bool) {
	share, questions := n.fairShare, l.ListenerCalls()
	open, most, failed := len(questions), 0, false // guarded by the shard's mutex
	for _, call := range questions {
		l.askLater(call, n.now(), func(reply any, err error) {
			clients, err := core.Listeners(reply, err)
			if command.IsRefusal(err) { // fair shares work without a count
				l.c.noClientCounts.Store(true)
			}
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
