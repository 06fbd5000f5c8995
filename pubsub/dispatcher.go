package pubsub

import (
	"slices"
	"sync"
)

// dispatcher calls Wakers. Each method is called without tables.mu and holds
// calls while it calls.
type dispatcher struct {
	tables *tables

	// calls is held so that the goroutines that call keep the order Confirmed,
	// Message, Refused. It is taken before tables.mu.
	calls sync.Mutex

	joined []*Subscription // came to a confirmed channel, not yet told; guarded by tables.mu
}

// confirm tells all of subs that their channel is subscribed.
func (d *dispatcher) confirm(subs []*share) {
	if len(subs) == 0 {
		return
	}
	d.calls.Lock()
	defer d.calls.Unlock()
	for _, s := range subs {
		if s.is(waiting) {
			s.toldConfirmed = true
			s.w.Confirmed()
		}
	}
}

// tellJoined calls Confirmed for subscriptions that joined a confirmed channel.
func (d *dispatcher) tellJoined() {
	d.calls.Lock()
	defer d.calls.Unlock()
	d.tables.mu.Lock()
	// The others are confirmed when their channel is confirmed again.
	joined := slices.DeleteFunc(d.joined, func(s *Subscription) bool { return !s.ch.confirmed })
	d.joined = nil
	d.tables.mu.Unlock()
	for _, s := range joined {
		d.confirmFirst(&s.share)
	}
}

// confirmFirst calls Confirmed if s was never called. calls is held.
func (d *dispatcher) confirmFirst(s *share) {
	if !s.toldConfirmed && s.is(waiting) {
		s.toldConfirmed = true
		s.w.Confirmed()
	}
}

// deliver passes a message to every subscription of its channel. A message for
// a channel that is not confirmed is dropped: the confirmation will say that
// something may have been missed.
// twin says that the sharded channel of that name has brought the same just now,
// see twin.go.
func (d *dispatcher) deliver(channel []byte, sharded bool, payload []byte, twin bool) {
	d.calls.Lock()
	defer d.calls.Unlock()
	var subs []*share
	d.tables.mu.Lock()
	if ch := d.tables.channels[key{string(channel), sharded}]; ch != nil && ch.confirmed {
		subs = ch.subs
	}
	d.tables.mu.Unlock()
	for _, s := range subs {
		d.confirmFirst(s)
		switch {
		case !s.is(waiting):
		case twin:
			deliverTwin(s.w, payload)
		default:
			s.w.Message(payload)
		}
	}
}

// refuse tells subs, which have been removed from their channel.
func (d *dispatcher) refuse(subs []*share, err error) {
	if len(subs) == 0 {
		return
	}
	d.calls.Lock()
	defer d.calls.Unlock()
	for _, s := range subs {
		if s.is(refused) {
			s.w.Refused(err)
		}
	}
}

// refuseUnconfirmed refuses those that were never told Confirmed.
func (d *dispatcher) refuseUnconfirmed(err error) {
	d.calls.Lock()
	d.tables.mu.Lock()
	var subs []*share
	for _, ch := range d.tables.channels {
		subs = append(subs, ch.refuse(func(s *share) bool { return !s.toldConfirmed })...)
		d.tables.reconcile(ch)
	}
	d.tables.mu.Unlock()
	d.calls.Unlock()
	d.refuse(subs, err)
}
