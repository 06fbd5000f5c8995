package release

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
)

// copyOf is one send that the server may still run.
type copyOf struct {
	form  Form
	until time.Duration // by then it has run, or is dropped
}

// entry is one event, to be printed when a life ends badly.
type entry struct {
	at   time.Duration
	what string
	do   Action
	then state
}

// world is a server with one owner's holds, its network, and the client around a
// release. What happens is drawn from a source, which a fuzzer may be.
type world struct {
	t    *testing.T
	draw func(n int) int
	m    *Release
	log  []entry

	now       time.Duration
	ours      bool // the hold that is to be released is there
	others    int  // holds of the same owner by others, or of this client
	left      int  // of them this client's
	latch     *codec.Release
	latchEnds time.Duration
	releases  int // of ours

	flying    []copyOf
	inTwo     bool // the keys are in two places
	mute      bool // announcements are refused
	shown     bool // others may act as the owner, in this client
	given     bool // or anywhere
	closed    bool
	mayArrive bool
	reached   time.Duration
	replicas  bool // the last send was followed by a question to them
	answered  bool
	stray     bool // nobody acts as the owner any more
	stoppable bool // the last send was not written
	sentAt    time.Duration
	seen      map[string]int
}

const late = 10 * time.Second // a command timeout

func (w *world) yes(oneIn int) bool { return w.draw(oneIn) == 0 }

func (w *world) facts() Facts {
	return Facts{
		Now: w.now, Shown: w.shown, Left: w.left > 0, Closed: w.closed, MayArrive: w.mayArrive, Answered: w.answered, Replicas: w.replicas,
		Reached: w.reached, Known: int64(w.left), Barred: w.m.Why == Repeat && w.given || w.m.Why == UnlockAs && w.stray,
	}
}

// run runs one send on the server. half says that it met an error behind its first change.
func (w *world) run(f Form) (did codec.Release, half bool) {
	if w.latch != nil && w.now >= w.latchEnds {
		w.latch = nil
	}
	latched := f == Latched
	if latched && w.latch != nil {
		return *w.latch, false
	}
	if !w.ours && w.others == 0 {
		return codec.NotHeld, false
	}
	if w.releases++; !w.ours || w.releases > 1 {
		w.t.Fatalf("a send of form %v releases a hold that is not its own, after %d releases", f, w.releases-1)
	}
	w.ours = false
	if did = codec.Partial; w.others == 0 {
		if did = codec.Final; w.mute {
			return did, true // and left no latch
		}
	}
	if latched {
		w.latch, w.latchEnds = &did, w.now+w.m.Retry+late
	}
	return did, false
}

// act does what the release asks for.
func (w *world) act(what string, event func() Action) {
	before := *w.m
	do := event()
	w.log = append(w.log, entry{w.now, what, do, w.m.state})
	w.seen[what]++
	if do == 0 {
		return
	}
	check(w.t, what, &before, w.m, do)
	if w.stray = w.stray || do.Has(Stray); do.Has(Tell) {
		w.seen[w.m.Verdict.String()]++
		w.isTrue()
	}
	if !do.Has(Send) {
		return
	}
	if w.m.Failed != nil && w.now > w.m.Until {
		w.act("can't be sent", func() Action { return w.m.Fail(Passing, w.m.Failed, w.facts()) })
		return
	}
	w.answered, w.stoppable, w.sentAt = false, true, w.now
}

// isTrue compares what was told with what is so.
func (w *world) isTrue() {
	gone := w.releases > 0
	switch v := w.m.Verdict; v {
	case NotHeld, UnsentSoFar, Expired, Unreleased, Strayed:
		// Nobody hears of an undo, which may outlive its latch, nor misses a hold that was
		// lost before and released half way.
		if gone && w.m.Why != Undo && !(v == NotHeld && w.mute && !w.m.Why.Living()) {
			w.t.Fatalf("it released, and says %v", v)
		}
	case Released, Unreplicated, ReplicasUnknown, InPart:
		if !gone && w.ours && w.m.Why != Repeat {
			w.t.Fatalf("it did not release, and says %v", v)
		}
	}
}

// write is the moment when the last send leaves the client.
func (w *world) write() {
	if w.stoppable {
		w.stoppable = false
		w.flying = append(w.flying, copyOf{w.m.Form, w.now + late})
	}
}

// arrive has a send run that nobody waits for, or drops it.
func (w *world) arrive() {
	if len(w.flying) == 0 {
		return
	}
	i := w.draw(len(w.flying))
	c := w.flying[i]
	w.flying = append(w.flying[:i], w.flying[i+1:]...)
	if w.now <= c.until && w.draw(3) > 0 && !(w.inTwo && c.form != KeyAlone) {
		w.run(c.form)
		w.seen["a lost one runs"]++
	}
}

// ends ends the send that is under way, in one of many ways.
func (w *world) ends(kindly bool) {
	w.replicas = false
	n := w.draw(12)
	switch {
	case w.now > w.sentAt+late:
		n = 2 // what is not written by then is not sent
	case kindly:
		n = 11
	}
	mayRun := func() {
		if w.reached == 0 {
			w.reached = w.now
		}
	}
	switch {
	case w.inTwo && w.m.Form != KeyAlone:
		w.stoppable = false
		w.act("in two places", func() Action { return w.m.Refused(errNet, true, w.facts()) })
	case n == 0:
		w.stoppable = false
		w.act("refused for now", func() Action { return w.m.Refused(errNet, false, w.facts()) })
	case n == 1:
		w.stoppable = false
		how := []Failure{Unrun, Passing}[w.draw(2)]
		w.act("refused", func() Action { return w.m.Fail(how, errOdd, w.facts()) })
	case n == 2 && w.stoppable:
		w.stoppable = false
		w.act("never written", func() Action { return w.m.Refused(errNet, false, w.facts()) })
	case n < 6:
		w.write()
		mayRun()
		w.act("lost", func() Action { return w.m.Lost(errNet) })
	default:
		w.write()
		w.flying = w.flying[:len(w.flying)-1]
		mayRun()
		did, half := w.run(w.m.Form)
		if half {
			w.act("half way", func() Action { return w.m.Fail(Partly, errOdd, w.facts()) })
			return
		}
		w.answered = true
		a := Answer{Did: did}
		if w.replicas = !kindly && w.yes(2); w.replicas {
			a.Unreplicated, a.ReplicasUnknown = w.yes(3), w.yes(3)
		}
		w.act("answered", func() Action { return w.m.Answered(a, w.facts()) })
	}
}

// hears answers the question.
func (w *world) hears(kindly bool) {
	var a Reply
	count := int64(w.others)
	if w.ours {
		count++
	}
	switch w.m.Question {
	case Count, Shown:
		a.N = count
	case Held:
		a.Yes = count > 0
	case Announce:
		if w.mute {
			a.Err = errOdd
		}
	case Replicas:
		a.N = int64(w.draw(2))
	}
	if !kindly && w.yes(4) {
		a.Err = errNet
	}
	w.act("hears "+w.m.Question.String(), func() Action { return w.m.Heard(a, w.facts()) })
}

// step has one thing happen.
func (w *world) step(kindly bool) {
	switch w.m.state {
	case waiting:
		if kindly || w.yes(2) {
			w.act("its turn", func() Action { return w.m.Begin(w.facts()) })
		}
	case sent:
		if kindly || w.yes(2) {
			w.ends(kindly)
		}
	case lost:
		if kindly || w.yes(2) {
			// The barrier: nothing runs any more, or nobody knows.
			if kindly || w.draw(3) > 0 {
				w.flying = nil
			} else {
				w.mayArrive = true
			}
			if w.closed {
				w.act("lost for good", func() Action { return w.m.Fail(Unknown, errNet, w.facts()) })
				break
			}
			w.act("goes on", func() Action { return w.m.Resume(w.facts()) })
		}
	case paused:
		if kindly || w.yes(2) {
			w.now += time.Second
			w.act("goes on", func() Action { return w.m.Resume(w.facts()) })
		}
	case asking:
		if kindly || w.yes(2) {
			w.hears(kindly)
		}
	}
	if kindly {
		return
	}
	switch w.draw(10) {
	case 0:
		w.shown, w.given = true, w.yes(2)
	case 1:
		// Somebody acts as the owner, who was shown while its unlock was under way. A
		// send from before that may meet the new hold, unless it meets the old one.
		mayMeet := len(w.flying)
		if w.m.state == sent {
			mayMeet++
		}
		if w.ours {
			mayMeet--
		}
		if w.shown && !w.stray && !w.mayArrive && w.m.Why < Undo && w.reached > 0 && w.m.Form.once() && mayMeet <= 0 {
			w.others++
			w.seen["others hold"]++
		}
	case 2:
		w.inTwo = !w.inTwo
	case 3:
		w.closed = w.closed || w.yes(5)
	case 4, 5:
		w.arrive()
	case 6:
		w.now += time.Duration(w.draw(30)) * time.Second
		w.flying = dropOld(w.flying, w.now)
		waits := w.stoppable
		if w.m.state == sent || w.m.state == paused || w.m.state == waiting || w.m.state == lost || w.m.state == asking {
			w.act("the limit", func() Action {
				f := Facts{Now: w.now, Closed: w.closed, Reached: w.reached}
				do := w.m.Tick(waits, f)
				if do != TakeBack {
					return do
				}
				if w.yes(4) {
					w.write()
					return w.m.Tick(false, f)
				}
				w.stoppable = false
				return w.m.Fail(Passing, errNet, w.facts())
			})
		}
	}
}

func dropOld(all []copyOf, now time.Duration) (left []copyOf) {
	for _, c := range all {
		if now <= c.until {
			left = append(left, c)
		}
	}
	return left
}
