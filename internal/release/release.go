package release

import (
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
)

// Release is one unlock. The first group of fields is set by its maker; the second
// is read by whoever acts. It is not safe for concurrent use.
type Release struct {
	Why    Why           // what it is for
	Rules  *kind.Traits  // of the kind of lock
	Limit  time.Duration // when its caller is told, whatever is known; with a latch it is not repeated after this (R1)
	Unheld time.Duration // when the server has dropped what is released, if nothing is sent; 0: not to be waited for
	Retry  time.Duration // for how long a latch answers for repetitions

	Form     Form          // in which it is sent
	Until    time.Duration // not sent after this
	Question Question      // what is, or was last, asked
	Reply    Reply         // to that
	Verdict  Verdict       // what was told, or is to be told
	Failed   error         // the last trouble

	state state
	past  past
	known int64 // Facts.Known before it was sent
}

// state is where a release stands.
//
//	state    what may come       and where it leads
//	waiting  Begin               sent; asking (TTL, Count); over
//	sent     Answered            over; sent (other form, no replica); asking (Announce, Replicas)
//	         Lost                lost
//	         Refused             paused; sent (the lock's key alone)
//	         Fail                over; asking (Held)
//	lost     Resume              sent; asking (Shown); over
//	         Fail                over
//	paused   Resume              sent; asking (Shown); over
//	asking   Heard               over; sent (TTL, Count)
//	over     nothing
//
// Tick may come in all of them. It tells the caller and leaves the state, but for
// one that is sent, and may be taken back. What was told is not told again: the
// release goes on without its caller, if anything is won by that.
type state uint8

const (
	waiting state = iota // for its owner's earlier commands
	sent                 // given to the executor
	lost                 // without an answer; the kill barrier is not settled
	paused               // nothing of it is under way, and it is sent again after a pause
	asking               // a question decides
	over
)

// past is what has happened to its sends, as far as it matters later.
type past uint8

const (
	straight   past = iota // one at most, and nothing else
	retried                // one was refused, or not sent
	split                  // one found its keys in two places
	unanswered             // one has no answer
	again                  // one ran, no replica had it, and it was sent once more
	againLost              // and was lost then, or before
)

// Sent tells whether a send of it is under way.
func (m *Release) Sent() bool { return m.state == sent }

// Straight tells that it was sent once, answered, and is over: nobody waits for
// anything more of it.
func (m *Release) Straight() bool { return m.state == over && m.past == straight && m.Question == None }

// Told tells whether its caller was told.
func (m *Release) Told() bool { return m.Verdict != Open }

// SentAgain tells whether it was sent once more because no replica had it.
func (m *Release) SentAgain() bool { return m.past >= again }

// Unsent tells whether it waits to be sent, so that nothing of it has run. waits says
// that what was sent waits to be written.
func (m *Release) Unsent(waits bool, f Facts) bool {
	return f.Reached == 0 && (m.state == paused || m.state == sent && waits)
}

// Begin says that its turn has come in its owner's command queue.
func (m *Release) Begin(f Facts) Action {
	switch {
	case m.state != waiting:
		return 0
	case m.Why == UnlockAs && m.Told():
		return m.end(f) // its caller may have sent another one
	case m.Why == UnlockAs && f.Barred:
		return m.finish(Strayed, f)
	case m.Why == UnlockAs:
		return m.ask(TTL)
	case m.Why == Repeat && f.Barred:
		return m.finish(Released, f)
	case m.Why == Repeat && f.Known > 0:
		m.known = f.Known
		return m.ask(Count)
	}
	return m.first(f)
}

// first decides how it is sent for the first time.
func (m *Release) first(f Facts) Action {
	m.Form, m.Until = Latched, m.Limit
	switch {
	case m.Rules.Once && !f.Shown:
		m.Form, m.Until = Once, max(m.Limit, m.Unheld, f.Lasts)
	case m.Told():
		m.Until = f.Now + m.Retry // its caller waits no longer; the server still counts the hold
	}
	return m.send(f, Encode)
}

// send sends it, perhaps again.
func (m *Release) send(f Facts, do Action) Action {
	switch {
	case m.Why == Repeat && f.Barred:
		return m.finish(Released, f)
	case m.Form.once() && f.Shown && f.Reached != 0 && f.MayArrive:
		return m.finish(ShownUnkilled, f)
	case m.Form.once() && f.Shown && f.Reached != 0:
		return m.ask(Shown)
	case m.Form.once() && f.Shown:
		return m.first(f) // with a latch: nothing of it has run
	case m.Told() && !m.Form.once() && (f.Reached != 0 || !f.Left && m.past != split):
		// The owner's next command must not wait for ever. The key of the last hold
		// expires. One hold of several would be counted for as long as the others are
		// renewed.
		return m.end(f)
	}
	m.state = sent
	return do | Send
}

// Answered takes the server's answer.
func (m *Release) Answered(a Answer, f Facts) Action {
	switch {
	case m.state != sent:
		return 0
	case m.Why == Repeat:
		// Its latch may have answered for an earlier send, so nothing follows for the
		// holds that the owner has by now.
		return m.finish(Released, f)
	case a.Err != nil:
		m.Failed = a.Err
		return Lower | m.finish(Refused, f)
	case m.Form.once():
		return m.answeredOnce(a, f)
	}
	return m.answeredLatched(a, f)
}

// answeredOnce takes the answer to a release without a latch.
func (m *Release) answeredOnce(a Answer, f Facts) (do Action) {
	switch {
	case a.Did == codec.Partial:
		do = Acted
	case f.Left:
		do = Vanish
	}
	switch {
	case a.Did == codec.NotHeld && m.lost():
		return do | m.gone(f)
	case a.Did == codec.NotHeld: // it published nothing
		return do | m.wake() | m.finish(NotHeld, f)
	case a.Unreplicated && m.called():
		// They are asked once more. The script is not repeated: where another
		// connection takes it, WAIT says nothing of what the first one did.
		return do | m.ask(Replicas)
	case a.ReplicasUnknown && m.called():
		return do | m.finish(ReplicasUnknown, f)
	}
	return do | m.finish(Released, f)
}

// answeredLatched takes the answer to a release with a latch.
func (m *Release) answeredLatched(a Answer, f Facts) (do Action) {
	verdict, wasLost := Released, m.lost()
	if a.Did != codec.NotHeld && a.Unreplicated && m.called() {
		if !m.SentAgain() {
			if m.past = max(m.past, again); wasLost {
				m.past = againLost
			}
			return m.send(f, 0) // with the same latch: it does not count twice
		}
		verdict = Unreplicated
	}
	if !f.MayArrive && !a.Kept {
		do = Discard
	}
	switch {
	case a.Did == codec.Partial && f.Left:
		do |= Leased
	case a.Did != codec.Partial && f.Left:
		do |= Vanish
	}
	if a.Did != codec.NotHeld {
		return do | m.finish(verdict, f)
	}
	do |= m.wake()
	if f.MayArrive {
		do |= Stray // no latch was set that would keep it from running
	}
	if wasLost && m.Why.Living() && !m.Rules.Silent {
		// The send that was lost did not run, and the hold was over before; or it was
		// refused at its announcement, behind the DEL, and left no latch. The
		// announcement by itself tells the two apart, and wakes who was not told.
		return do | m.ask(Announce)
	}
	return do | m.finish(NotHeld, f)
}

// Lost says that its connection is, without an answer. It is sent again behind the
// kill barrier.
func (m *Release) Lost(err error) Action {
	if m.state != sent {
		return 0
	}
	m.state, m.Failed = lost, err
	if m.past = max(m.past, unanswered); m.past == again {
		m.past = againLost
	}
	return Lower | m.timer()
}

// Refused says that nothing of the last send ran, and that it may be sent again after
// a pause. inTwo says that this is because its keys are in two places.
func (m *Release) Refused(err error, inTwo bool, f Facts) Action {
	if m.state != sent {
		return 0
	}
	m.Failed, m.past = err, max(m.past, retried)
	switch {
	case inTwo && m.Form == Once && !f.Shown:
		m.Form = KeyAlone
		return m.send(f, Encode)
	case inTwo && !m.Form.once():
		m.past = max(m.past, split)
		if f.Reached == 0 && m.Until != clock.Never {
			m.Until = max(m.Until, m.Unheld)
		}
	}
	m.state = paused
	return m.timer() | Pause
}

// Resume says that the pause is over, or that the kill barrier is settled.
func (m *Release) Resume(f Facts) Action {
	if m.state != paused && m.state != lost {
		return 0
	}
	return m.send(f, 0)
}

// Fail says that the last send was not answered, or refused, and is not sent again, or
// that it was not sent at all.
func (m *Release) Fail(how Failure, err error, f Facts) Action {
	if m.state != sent && m.state != lost {
		return 0
	}
	m.Failed = err
	if f.Closed {
		how = Passing // nobody is asked
	}
	switch {
	case how == Partly && m.Form.once() && !f.Shown:
		return m.ask(Held)
	case how == Partly:
		return Lower | m.finish(Refused, f)
	case f.Reached != 0:
		return m.finish(Uncertain, f) // if a repetition was refused, the send that was lost may have run
	case how == Unrun:
		return m.finish(Refused, f)
	case f.Closed:
		return m.finish(Closed, f)
	}
	return m.finish(Expired, f)
}

// Tick tells the caller what is known when the limit has passed. waits says that what
// was sent waits to be written.
func (m *Release) Tick(waits bool, f Facts) Action {
	switch {
	case m.Told() || m.state == over || f.Now <= m.Limit: // Close runs all timers at once
		return 0
	case m.state == waiting, m.state == asking && (m.Question == TTL || m.Question == Count):
		return m.tell(Queued)
	case m.Why == UnlockAs && m.state == paused && f.Reached == 0:
		return m.tell(Unreleased)
	case m.Why == UnlockAs:
		return m.tell(Unanswered)
	case f.Reached != 0:
		return m.tell(Uncertain)
	case m.Form.once() || m.past == split:
		if m.Unsent(waits, f) {
			return m.tell(UnsentSoFar)
		}
	case m.state == sent && waits:
		return TakeBack
	}
	return m.tell(Unanswered)
}

// Heard takes the answer to Question.
func (m *Release) Heard(a Reply, f Facts) Action {
	if m.state != asking {
		return 0
	}
	m.Reply = a
	switch m.Question {
	case TTL:
		switch {
		case m.Told():
			return m.end(f)
		case a.Err == nil:
			return m.first(f)
		case f.Closed:
			return m.finish(Closed, f)
		}
		m.Failed = a.Err
		return m.finish(Unreleased, f)
	case Count:
		if a.Err != nil || a.N <= m.known || f.Barred {
			return m.finish(Released, f)
		}
		return m.first(f)
	case Held:
		if a.Err == nil && !a.Yes {
			return m.wake() | m.finish(InPart, f)
		}
		return m.wake() | m.finish(Refused, f)
	case Shown:
		switch {
		case a.Err != nil || a.N != 0:
			return m.finish(ShownUnknown, f)
		case f.Left:
			return Vanish | m.gone(f)
		}
		return m.gone(f)
	case Announce:
		if a.Err != nil {
			return m.finish(Unannounced, f)
		}
		return m.finish(NotHeld, f)
	}
	switch {
	case a.Err != nil:
		return m.finish(ReplicasUnknown, f)
	case a.N == 0:
		return m.finish(Unreplicated, f)
	}
	return m.finish(Released, f)
}

// called tells whether a caller still waits for the outcome.
func (m *Release) called() bool { return m.Why.Called() && !m.Told() }

// lost tells whether a send has no answer.
func (m *Release) lost() bool { return m.past == unanswered || m.past == againLost }

// gone ends a release without a latch of which a send was lost, and whose owner holds
// nothing: that send ran, and what the replicas have of it was lost with the answer.
func (m *Release) gone(f Facts) Action {
	if f.Replicas {
		return m.wake() | m.finish(ReplicasUnknown, f)
	}
	return m.wake() | m.finish(Released, f)
}

// wake has the waiters look. An undo is followed by an attempt anyway.
func (m *Release) wake() Action {
	if m.Why.Living() {
		return Wake
	}
	return 0
}

// timer asks for Tick. The server may stay away; the caller need not.
func (m *Release) timer() Action {
	if m.Told() || m.Limit == clock.Never {
		return 0
	}
	return SetTimer
}

func (m *Release) ask(q Question) Action {
	m.state, m.Question = asking, q
	return Ask
}

// tell tells the caller, once.
func (m *Release) tell(v Verdict) Action {
	if m.Told() {
		return 0
	}
	m.Verdict = v
	return Tell
}

// finish tells the outcome and ends the command.
func (m *Release) finish(v Verdict, f Facts) Action { return m.tell(v) | m.end(f) }

// end ends the command. Where the server has answered, the latch keeps late copies
// of it from running.
func (m *Release) end(f Facts) (do Action) {
	m.state = over
	if f.MayArrive && m.Form.once() {
		do |= Stray
	}
	if f.MayArrive && !f.Answered {
		do |= Late
	}
	return do | End
}
