package locks

import (
	"fmt"

	"github.com/rlock-go/redisson/internal/kind"
)

// subscriber is one subscription of a queue, as the hub calls it.
type subscriber struct {
	kind      kind.Kind
	channel   string
	queue     *queue
	epoch     int
	alone     bool // it is the queue's only one
	confirmed bool
}

// Confirmed makes the head look, once all subscriptions are confirmed: what was
// published before is gone (P2).
func (sub *subscriber) Confirmed() {
	sub.tell(func(q *queue) {
		if !sub.confirmed {
			sub.confirmed = true
			q.unconfirmed--
		}
		if q.unconfirmed == 0 {
			q.setDeaf(false)
			q.Queue.Confirmed()
		}
	})
}

// Lost makes the head look now and then until the subscription is confirmed again.
func (sub *subscriber) Lost() {
	sub.tell(func(q *queue) {
		q.setDeaf(true)
		q.Queue.Unconfirmed(q.shard.Now() + q.shard.lookAfter())
	})
}

// Message makes the head look, if its kind of lock says so (P3). Before all subscriptions are
// confirmed it is ignored: the confirmation makes the head look anyway.
func (sub *subscriber) Message(payload []byte) {
	if n := sub.kind.Wake(payload); n > 0 {
		sub.tell(func(q *queue) {
			if q.unconfirmed == 0 {
				q.Queue.Message(q.shard.Now(), n)
			}
		})
	}
}

// Duplicate ignores a message that another subscription of the queue has received. If the queue
// has only one subscription, it is Message.
func (sub *subscriber) Duplicate(payload []byte) {
	if sub.alone {
		sub.Message(payload)
	}
}

// Refused ends the waits: without a subscription nobody would be woken.
func (sub *subscriber) Refused(err error) {
	sub.tell(func(q *queue) {
		q.SubscriptionRefused(fmt.Errorf("subscribe to %s: %w", Quote(sub.channel), err))
	})
}

// tell reports an event to the queue, unless the subscription was replaced.
func (sub *subscriber) tell(event func(*queue)) {
	q := sub.queue
	defer q.shard.enter(mustNotBlock).leave()
	if sub.epoch != q.epoch {
		return
	}
	q.touch()
	event(q)
	q.name.step()
}
