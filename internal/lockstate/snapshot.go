package lockstate

// Snapshot is what there is of a lock in its client at one moment. It is for
// tests, which wait until something is under way.
type Snapshot struct {
	Known     bool  // there is anything
	Waiting   int   // callers in the queue
	Listening bool  // the queue is subscribed
	InFlight  bool  // an attempt of the queue has no answer, or there is no queue
	Hold      *Hold // a living one
}

// Snapshot tells what there is of the lock.
func (l *Lock) Snapshot() Snapshot {
	s := l.s
	defer s.enter(mustNotBlock).leave()
	n := s.find(l)
	if n == nil {
		return Snapshot{InFlight: true}
	}
	q := n.findQueue(l, Owner{})
	now := Snapshot{Known: true, InFlight: q == nil}
	if n.states != nil {
		now.Hold = n.states.holds
	}
	if q != nil {
		now.Waiting, now.Listening = q.Len(), q.Listening()
		for w := range q.Waiting() {
			now.InFlight = now.InFlight || q.Facts(w).InFlight
		}
	}
	return now
}

// OwnerSnapshot is Snapshot for the owner of a hold.
type OwnerSnapshot struct {
	Busy         bool // a command is under way
	Queued       int  // commands that wait for it
	StillCounted int  // holds whose own lease ended, and which the server counts
}

// OwnerSnapshot tells what there is of the hold's owner.
func (h *Hold) OwnerSnapshot() OwnerSnapshot {
	s := h.l.s
	defer s.enter(mustNotBlock).leave()
	now := OwnerSnapshot{Busy: h.st.busy, StillCounted: h.st.stillCounted()}
	if h.st.extras != nil {
		now.Queued = len(h.st.extras.queue)
	}
	return now
}

// UnderWay tells how many timers are set or run, and how many commands are
// under way that change something, those of Unlock
// and UnlockAs left out.
func (c *State) UnderWay() (timers, commands int) {
	return c.timers.Live(), int(c.work.Count())
}
