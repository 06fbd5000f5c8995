package pubsub

// key identifies a channel. A sharded and a plain channel of the same name are
// unrelated.
type key struct {
	name    string
	sharded bool
}

// channel is what the hub knows about one channel. All fields are guarded by
// Hub.mu.
//
// sent and unanswered describe the current connection; without one both are zero.
// The channel is certainly subscribed if confirmed is true, and certainly not if
// sent is false and nothing is unanswered.
type channel struct {
	key

	// subs is in order of subscription. It is only appended to or replaced,
	// never changed in place, so that a copy of the slice header is a snapshot.
	// A closed subscription stays in it until a replacement.
	subs []*Subscription
	live int // how many in subs are still waiting; above 0: the channel should be subscribed

	sent       bool // the last command sent was SUBSCRIBE
	confirmed  bool // and it was answered
	marked     bool // in the connection's list of channels to check
	alone      bool // a SUBSCRIBE with others was refused: send it again for this one alone
	elsewhere  bool // the server does not serve its slot: not subscribed before the next check
	unanswered int  // commands sent and not answered
}

// refuse removes and returns the subscriptions that whom picks. The caller of refuse
// must call their Refused.
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

// unused tells whether the channel has no waiter and is certainly not subscribed.
// Then it leaves the hub's table for good: the next subscription of the name gets
// a new channel.
func (ch *channel) unused() bool {
	return ch.live == 0 && !ch.sent && ch.unanswered == 0
}

// lost resets what described the lost connection.
func (ch *channel) lost() {
	ch.sent, ch.confirmed, ch.marked, ch.alone, ch.elsewhere, ch.unanswered = false, false, false, false, false, 0
}
