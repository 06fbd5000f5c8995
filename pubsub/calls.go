package pubsub

import "slices"

// These functions call Wakers. Each is called without mu, and holds calls while it
// calls them.

// confirm calls Confirmed for all of subs, whose channel is subscribed.
func (h *Hub) confirm(subs []*Subscription) {
	h.calls.Lock()
	defer h.calls.Unlock()
	for _, s := range subs {
		if s.is(waiting) {
			s.toldConfirmed = true
			s.w.Confirmed()
		}
	}
}

// tellLost calls Lost for those of subs that were confirmed and whose Waker has that method.
func (h *Hub) tellLost(subs []*Subscription) {
	h.calls.Lock()
	defer h.calls.Unlock()
	for _, s := range subs {
		if w, wants := s.w.(interface{ Lost() }); wants && s.toldConfirmed && s.is(waiting) && h.life.Err() == nil {
			w.Lost()
		}
	}
}

// tellJoined calls Confirmed for subscriptions that joined a confirmed channel.
func (h *Hub) tellJoined() {
	h.calls.Lock()
	defer h.calls.Unlock()
	h.mu.Lock()
	// The others are confirmed when their channel is confirmed again.
	joined := slices.DeleteFunc(h.joined, func(s *Subscription) bool { return !s.ch.confirmed })
	h.joined = nil
	h.mu.Unlock()
	for _, s := range joined {
		h.confirmFirst(s)
	}
}

// confirmFirst calls Confirmed unless s was confirmed before. calls is held.
func (h *Hub) confirmFirst(s *Subscription) {
	if !s.toldConfirmed && s.is(waiting) {
		s.toldConfirmed = true
		s.w.Confirmed()
	}
}

// deliver passes a message to every subscription of its channel. It drops a message
// for an unconfirmed channel, because Confirmed will say that messages may have been
// missed. duplicate says that the sharded channel of that name had the same message
// just before, see duplicate.go.
func (h *Hub) deliver(channel []byte, sharded bool, payload []byte, duplicate bool) {
	h.calls.Lock()
	defer h.calls.Unlock()
	var subs []*Subscription
	h.mu.Lock()
	if ch := h.channels[key{string(channel), sharded}]; ch != nil && ch.confirmed {
		subs = ch.subs
	}
	h.mu.Unlock()
	for _, s := range subs {
		h.confirmFirst(s)
		if !s.is(waiting) {
			continue
		}
		if w, ok := s.w.(interface{ Duplicate(payload []byte) }); ok && duplicate {
			w.Duplicate(payload)
		} else {
			s.w.Message(payload)
		}
	}
}

// refuse calls Refused for subs, which were removed from their channel.
func (h *Hub) refuse(subs []*Subscription, err error) {
	h.calls.Lock()
	defer h.calls.Unlock()
	for _, s := range subs {
		if s.is(refused) {
			s.w.Refused(err)
		}
	}
}

// refuseUnconfirmed refuses the subscriptions that were never confirmed.
func (h *Hub) refuseUnconfirmed(err error) {
	h.calls.Lock()
	h.mu.Lock()
	var subs []*Subscription
	for _, ch := range h.channels {
		subs = append(subs, ch.refuse(func(s *Subscription) bool { return !s.toldConfirmed })...)
		h.reconcile(ch)
	}
	h.mu.Unlock()
	h.calls.Unlock()
	h.refuse(subs, err)
}
