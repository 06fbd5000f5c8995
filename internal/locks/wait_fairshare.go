package locks

import (
	"time"

	"github.com/rlock-go/redisson/internal/command"
)

// noteRelease records in the name's fair share that this client releases its last hold of the
// name, which it acquired at since. If a count is due, it counts the clients that want the name.
func (n *nameState) noteRelease(l *Lock, since time.Duration) {
	s := n.lock.shard
	now := s.Now()
	if n.fairShare == nil {
		n.fairShare = s.fairShares.Released(l.key, since, now)
	}
	if n.fairShare == nil {
		return
	}
	q := n.findQueue(l, Owner{})
	if q != nil {
		q.Use(n.fairShare)
	}
	listens := q != nil && q.Listening()
	n.fairShare.Released(now, listens)
	if !s.client.noClientCounts.Load() && n.fairShare.CountDue(now) {
		n.countClients(l, listens)
	}
}

// countClients asks how many clients are subscribed to the name's channel, as all that wait for
// it are. The command travels with the unlock. Where there are two kinds of channel it asks for
// both and takes the larger number: a client that subscribes to both, as this library does,
// must not count twice. The count is complete with the last reply. listens says that this
// client is among the subscribers.
func (n *nameState) countClients(l *Lock, listens bool) {
	s, share, questions := n.lock.shard, n.fairShare, l.listenerCalls()
	open, most, failed := len(questions), 0, false // guarded by the section
	for _, call := range questions {
		s.askLater(l.slot, call, s.Now(), func(r *command.Request) {
			clients, err := listeners(replied(r))
			if command.IsRefusal(err) { // fair shares work without a count
				s.client.noClientCounts.Store(true)
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
