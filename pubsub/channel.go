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
	marked     bool // in the link's list of channels to look at
	alone      bool // a SUBSCRIBE with others was refused: find out who was meant
	unanswered int  // commands sent and not answered
}

// left notes that one of subs has gone.
func (c *channel) left() {
	c.live--
	switch {
	case c.live == 0:
		c.subs = nil
	case len(c.subs) > 32 && c.live < len(c.subs)/2:
		// Rare enough to cost each leaver a constant, often enough that the gone
		// are never more than the living.
		subs := make([]*Subscription, 0, c.live+c.live/4)
		for _, s := range c.subs {
			if s.is(waiting) {
				subs = append(subs, s)
			}
		}
		c.subs = subs
	}
}

// refuse takes out and returns those that whom names. They are to be told.
func (c *channel) refuse(whom func(*Subscription) bool) (out []*Subscription) {
	var keep []*Subscription
	for _, s := range c.subs {
		switch {
		case !s.is(waiting):
		case whom(s):
			s.state.Store(refused)
			out = append(out, s)
		default:
			keep = append(keep, s)
		}
	}
	c.subs, c.live = keep, len(keep)
	return out
}

// unused: nobody wants it and the server neither has it nor will. It is in no
// table then, and stays so: who wants the name later gets a new channel.
func (c *channel) unused() bool {
	return c.live == 0 && !c.sent && c.unanswered == 0
}

// lost forgets the connection.
func (c *channel) lost() {
	c.sent, c.confirmed, c.marked, c.alone, c.unanswered = false, false, false, false, 0
}
