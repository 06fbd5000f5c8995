package pubsub

// channel is what the hub knows about one channel. All fields are guarded by the
// hub's mu.
//
// sent and unanswered describe the connection there is; without one both are
// zero. The server has the channel for certain when confirmed, and certainly not
// when sent is false and nothing is unanswered.
type channel struct {
	name string

	// subs is in order of subscription. It is only appended to or replaced,
	// never changed in place, so that a copy of the slice header is a snapshot.
	// Who left stays in it until a replacement.
	subs []*Subscription
	live int // how many in subs have not left

	sent       bool // the last command sent was SUBSCRIBE
	confirmed  bool // and it was answered
	marked     bool // in the connection's list of channels to look at
	alone      bool // a SUBSCRIBE with others was refused: find out who was meant
	unanswered int  // commands sent and not answered
}

// left notes that one of subs has gone.
func (ch *channel) left() {
	ch.live--
	switch {
	case ch.live == 0:
		ch.subs = nil
	case len(ch.subs) > 32 && ch.live < len(ch.subs)/2:
		// Rare enough to cost each leaver a constant, often enough that the gone
		// are never more than the living.
		subs := make([]*Subscription, 0, ch.live+ch.live/4)
		for _, s := range ch.subs {
			if s.is(waiting) {
				subs = append(subs, s)
			}
		}
		ch.subs = subs
	}
}

// refuse takes out and returns those that whom names. They are to be told.
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

// unused: nobody wants it and the server neither has it nor will. It is in no
// table then, and stays so: who wants the name later gets a new channel.
func (ch *channel) unused() bool {
	return ch.live == 0 && !ch.sent && ch.unanswered == 0
}

// lost forgets the connection.
func (ch *channel) lost() {
	ch.sent, ch.confirmed, ch.marked, ch.alone, ch.unanswered = false, false, false, false, 0
}
