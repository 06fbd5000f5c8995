package pubsub

import "slices"

// key tells channels apart. A sharded one and a plain one of the same name have
// nothing in common.
type key struct {
	name    string
	sharded bool
}

// channel is what the hub knows about one channel. All fields are guarded by
// Hub.mu.
//
// sent and unanswered describe the connection there is; without one both are
// zero. The server has the channel for certain when confirmed, and certainly not
// when sent is false and nothing is unanswered.
type channel struct {
	key

	// subs is in order of subscription. It is only appended to or replaced,
	// never changed in place, so that a copy of the slice header is a snapshot.
	// A closed subscription stays in it until a replacement.
	subs []*Subscription
	live int // how many in subs have not left

	sent       bool // the last command sent was SUBSCRIBE
	confirmed  bool // and it was answered
	marked     bool // in the connection's list of channels to look at
	alone      bool // a SUBSCRIBE with others was refused: ask again for it alone
	elsewhere  bool // the server does not serve its slot: not asked for again before the next look
	unanswered int  // commands sent and not answered
}

// wanted decides whether the channel should be subscribed.
func (ch *channel) wanted() bool { return ch.live > 0 }

// left records that one of subs was closed.
func (ch *channel) left() {
	ch.live--
	switch {
	case ch.live == 0:
		ch.subs = nil
	case len(ch.subs) > 32 && ch.live < len(ch.subs)/2:
		// Rare enough to cost each leaver a constant, often enough that the gone
		// are never more than the living.
		ch.subs = slices.DeleteFunc(slices.Clone(ch.subs), func(s *Subscription) bool { return !s.is(waiting) })
	}
}

// refuse removes and returns the subscriptions that whom picks. The caller must
// call their Refused.
func (ch *channel) refuse(whom func(*Subscription) bool) (out []*Subscription) {
	var keep []*Subscription
	for _, s := range ch.subs {
		switch {
		case !s.is(waiting):
		case whom(s):
			s.state.Store(refused)
			out = append(out, s)
		default:
			keep = append(keep, s)
		}
	}
	ch.subs, ch.live = keep, len(keep)
	return out
}

// unused tells that nobody wants the channel and that the server does not have
// it and will not. Then it is in no table, and stays so: the next subscription
// of the name gets a new channel.
func (ch *channel) unused() bool {
	return ch.live == 0 && !ch.sent && ch.unanswered == 0
}

// lost forgets the connection.
func (ch *channel) lost() {
	ch.sent, ch.confirmed, ch.marked, ch.alone, ch.elsewhere, ch.unanswered = false, false, false, false, false, 0
}
