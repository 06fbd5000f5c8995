package release

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

var (
	errNet  = errors.New("the network is away")
	errOdd  = errors.New("odd")
	errBack = errors.New("taken back")
)

var (
	whys      = strings.Fields("Unlock Lost UnlockAs GiveBack Vain Retract Undo Repeat")
	verdicts  = strings.Fields("- Released NotHeld Unreplicated ReplicasUnknown Refused Unannounced InPart Uncertain Unanswered Queued UnsentSoFar Expired Unreleased Closed Strayed Foreign")
	questions = strings.Fields("- TTL Replicas")
	effects   = strings.Fields("Tell Vanish Leased Lower Discard Stray Late Wake End")
)

func (w Why) String() string      { return whys[w] }
func (v Verdict) String() string  { return verdicts[v] }
func (q Question) String() string { return questions[q] }
func (e Effect) String() string   { return effects[e] }

// copyOf is a send that the server may still run.
type copyOf struct {
	form  Form
	left  Left
	least int
	until time.Duration // when it has run or is dropped
}

const late = 10 * time.Second // a command timeout

// world is a server with one owner's holds, its network, and the client around a release, in
// virtual time. Events are drawn from a source: by chance, by a fuzzer, or every possibility in
// turn. They happen while the release waits, which is when it calls a method that blocks.
type world struct {
	t    *testing.T
	draw func(n int) int
	u    *Release
	log  []any
	seen map[any]int // counts of what happened; nil: not counted

	now          time.Duration
	ours         bool // the hold that is to be released exists
	left         int  // living holds of the same owner in this client
	ended        int  // those that ended by themselves, and that the server counts
	endedSibling int  // the same, of the holds that are counted separately
	others       int  // holds of the same owner in other clients
	latch        *luasrc.Release
	latchEnds    time.Duration
	releases     int // how often our hold was released

	flying    []copyOf
	inTwo     bool // the keys are in two places
	mute      bool // announcements are refused
	breaks    bool // the last command of a script is refused
	foreign   bool // others may act as the owner
	closed    bool
	mayArrive bool
	reached   time.Duration
	replicas  bool // the replicas were asked after the last send
	answered  bool
	stray     bool // nobody acts as the owner any longer
	over      bool
	told      bool

	least     int     // how many holds the submitted send leaves at least
	tooMany   bool    // after the last reply the server counted holds that the owner did not need
	last      *Answer // the last reply to a send
	had       *Reply  // the last answer to a question, since then
	unsent    bool    // no further send can be submitted
	waits     bool    // the submitted send is not written yet
	taken     bool    // the submitted send was taken back
	failed    bool    // the last send failed
	lost      bool    // the last send has no answer, and may still run
	lowered   bool    // trust was lowered after the loss
	woken     bool
	inParts   bool // a send found its keys in two places
	expired   bool // what waits to be written ends as not sent at this moment
	final     bool // the last send was refused for good, or taken back
	latched   bool // it had a latch when the caller was told
	later     bool // others were told that a send may still set the lease
	sentAt    time.Duration
	blocked   int // waits so far
	disturbed int // how many of these waits something may disturb
}

func (w *world) yes(oneIn int) bool { return w.draw(oneIn) == 0 }

func (w *world) note(what any) {
	w.log = append(w.log, what)
	if w.seen != nil {
		w.seen[what]++
	}
}

// turn runs the release from its turn in the command queue on.
func (w *world) turn() {
	if !w.u.Begin(w) || w.unsent {
		w.u.Rest(w)
		return
	}
	if w.blocked < w.disturbed && w.yes(2) {
		w.u.Rest(w)
		return
	}
	switch s := w.Wait(); {
	case s.How == TakenBack:
	case s.How == Ran && w.u.Plain(w, s.Answer.Did, s.Answer.Unreplicated): // by the goroutine that reads replies
		w.u.Answer(w, s.Answer)
	default:
		w.u.Rest(&again{w, &s})
	}
}

// again is a world whose first wait is over.
type again struct {
	*world
	first *Sent
}

func (w *again) Wait() Sent {
	if s := w.first; s != nil {
		w.first = nil
		return *s
	}
	return w.world.Wait()
}

func (w *world) Facts() Facts {
	f := Facts{Now: w.now, Closed: w.closed, Reached: w.reached}
	if w.u.UnderWay {
		f.Unwritten = w.waits
		return f
	}
	f.Foreign, f.Left, f.MayArrive, f.Answered, f.Replicas = w.foreign, w.left > 0, w.mayArrive, w.answered, w.replicas
	f.Last, f.Needs = w.left == 0, w.left
	f.Barred = w.u.Why == UnlockAs && w.stray
	return f
}

func (w *world) Submit() {
	switch {
	case w.over:
		w.t.Fatal("it is sent after its end")
	case w.lost:
		w.t.Fatal("it is sent before the kill barrier")
	case w.u.Why == UnlockAs && w.u.Form == Latched && w.u.Question != TTL:
		w.t.Fatal("it is sent with a lease that was not asked for")
	case w.u.Form == Own && w.foreign:
		w.t.Fatal("a foreign owner's goes without a latch")
	case !w.u.Reported() && w.u.Until < w.u.Limit:
		w.t.Fatal("it is sent again for less long than its caller waits")
	case w.u.Form == Latched && (w.u.Why == Repeat || w.u.Why == Retract):
		w.t.Fatalf("a foreign owner's %v is sent", w.u.Why)
	}
	w.least = w.left
	w.unsent = w.failed && w.now > w.u.Until || w.closed
	w.answered, w.taken, w.waits, w.sentAt = false, false, !w.unsent, w.now
}

func (w *world) TakeBack() (bool, error) {
	if !w.waits {
		return false, nil
	}
	switch w.draw(5) {
	case 0: // it is being written at this moment
		w.waits = false
		return false, nil
	case 1: // it ends as not sent at this moment
		w.expired = true
		return false, errBack
	}
	w.waits, w.taken = false, true
	w.note("taken back")
	return true, errBack
}

// run lets the server run one send. untold says that its announcement was refused.
func (w *world) run(c copyOf) (did luasrc.Release, untold bool) {
	if w.latch != nil && w.now >= w.latchEnds {
		w.latch = nil
	}
	if c.form == Latched && w.latch != nil {
		return *w.latch, false
	}
	mine := w.left + w.ended
	if w.ours {
		mine++
	}
	n := mine + w.others
	if c.left == ExactlySibling {
		w.endedSibling = 0
		return w.answer(c, n)
	}
	if n == 0 {
		return luasrc.NotHeld, false
	}
	if w.u.Verdict == Expired || w.u.Verdict == Unreleased || w.u.Verdict == Queued && w.u.Why == UnlockAs {
		w.t.Fatalf("it releases after %v", w.u.Verdict)
	}
	takes := 1
	switch {
	case c.form == Own && c.left == OneLess:
		takes = n - max(c.least, n-1)
	case c.form == Own:
		takes = n - c.least
	}
	if takes < 0 || takes > mine-w.left || c.form == Latched && (!w.ours || w.releases > 0) {
		w.t.Fatalf("a send of form %v, leaving %v of %d, takes %d of %d, of which %d live and %d are others'", c.form, c.left, c.least, takes, n, w.left, w.others)
	}
	if takes > 0 && w.ours {
		w.ours = false
		w.releases++
		takes--
	}
	w.ended -= takes
	return w.answer(c, w.left+w.ended+w.others)
}

// answer is the reply of a send that ran and left n holds.
func (w *world) answer(c copyOf, n int) (did luasrc.Release, untold bool) {
	if did = luasrc.Partial; n == 0 && w.endedSibling == 0 {
		did = luasrc.Final
	}
	if c.form == Latched {
		w.latch, w.latchEnds = &did, w.now+w.u.Retry+late
	}
	return did, w.mute && did == luasrc.Final
}

// blocks makes something happen while the release waits. It reports whether nothing will go wrong
// from now on.
func (w *world) blocks() (kindly bool) {
	if w.blocked++; w.blocked > w.disturbed+20 {
		w.t.Fatal("it never ends")
	}
	if w.blocked > w.disturbed {
		w.inTwo = false
		return true
	}
	switch w.draw(7) {
	case 1:
		w.foreign = true
		w.note("foreign")
	case 2:
		// Others may act as the owner since its unlock is under way, and somebody acquires. A send
		// from before that takes one hold meets the old one first. One that leaves exactly what this
		// client needs meets the new one.
		met := len(w.flying)
		if w.u.UnderWay {
			met++
		}
		if w.ours && w.u.Left == OneLess {
			met--
		}
		if w.foreign && !w.stray && !w.mayArrive && w.reached > 0 && w.u.Form == Own && (met <= 0 || w.u.Left == OneLess && w.ended > met) {
			w.others++
			w.note("others hold")
		}
		if w.left > 0 && w.yes(2) {
			w.left--
			w.ended++
			w.note("a hold ends")
		}
	case 3:
		w.inTwo = !w.inTwo
	case 4:
		w.closed = true
		w.note("closed")
	case 5:
		w.arrive()
	case 6:
		w.now += time.Duration(1+w.draw(3)*30) * time.Second
		left := w.flying[:0]
		for _, c := range w.flying {
			if w.now <= c.until {
				left = append(left, c)
			}
		}
		w.flying = left
		if w.u.Why == UnlockAs && w.yes(2) {
			w.u.CallerLeft(w)
		}
		w.u.LimitPassed(w)
	}
	return false
}

// arrive lets a send that nobody awaits run, or drops it.
func (w *world) arrive() {
	if len(w.flying) == 0 {
		return
	}
	i := w.draw(len(w.flying))
	c := w.flying[i]
	w.flying = append(w.flying[:i], w.flying[i+1:]...)
	if w.now <= c.until && w.draw(3) > 0 && !(w.inTwo && c.form != Own) {
		w.run(c)
		w.note("a lost one runs")
	}
}

func (w *world) Wait() Sent {
	if w.unsent {
		return Sent{How: Passing, Err: errNet}
	}
	kindly := w.blocks()
	w.replicas = false
	n := w.draw(5)
	switch {
	case w.taken:
		w.final = true
		return Sent{How: TakenBack}
	case w.expired:
		n = 0
	case kindly:
		n = 4
	case w.now > w.sentAt+late:
		n = 2 // a send that is not written by then is never sent
	}
	unwritten, expired := w.waits, w.expired
	w.waits, w.expired = false, false
	switch {
	case w.inTwo && w.u.Form != Own && !expired:
		w.failed, w.inParts = true, true
		w.note("in two places")
		return Sent{How: ForNow, Err: errNet, Split: true}
	case n == 0, n == 2 && unwritten:
		w.failed = true
		return Sent{How: ForNow, Err: errNet}
	case n == 1:
		w.final = true
		return Sent{How: []How{Unrun, Passing}[w.draw(2)], Err: errOdd}
	}
	if w.reached == 0 {
		w.reached = w.now
	}
	if n < 4 {
		w.failed, w.lost, w.lowered = true, true, false
		w.flying = append(w.flying, copyOf{w.u.Form, w.u.Left, w.least, w.now + late})
		w.note("lost")
		return Sent{How: NoAnswer, Err: errNet}
	}
	did, untold := w.run(copyOf{form: w.u.Form, left: w.u.Left, least: w.least})
	w.tooMany = w.left == 0 && (w.ended > 0 || w.endedSibling > 0 && (did != luasrc.NotHeld || w.u.more))
	if w.breaks && did != luasrc.NotHeld {
		w.note("half way")
		return Sent{How: Partly, Err: errOdd}
	}
	w.answered = true
	s := Sent{Answer: Answer{Did: did}}
	if untold {
		s.Answer.Unannounced = errOdd
	}
	if w.replicas = !kindly && w.yes(2); w.replicas {
		s.Answer.Unreplicated, s.Answer.ReplicasUnknown = w.yes(3), w.u.Form == Own && w.yes(3)
	}
	w.last, w.had = &s.Answer, nil
	return s
}

func (w *world) Settle() {
	if !w.lost {
		w.blocks()
		w.now += time.Second
		return
	}
	if !w.lowered {
		w.t.Fatal("it was lost, and trust in the lease that it may have set is not lowered")
	}
	if w.blocks() || w.draw(3) > 0 {
		w.flying = nil
	} else {
		w.mayArrive = true
	}
	w.lost = false
}

func (w *world) Ask(q Question) (a Reply) {
	kindly := w.blocks()
	w.note(q)
	if q == Replicas {
		a.N = int64(w.draw(2))
	}
	if !kindly && w.yes(4) {
		a = Reply{Err: errNet}
	}
	w.had = &a
	return a
}

func (w *world) Apply(e Effect) {
	w.note(e)
	if w.over {
		w.t.Fatalf("%v follows its end", e)
	}
	switch e {
	case Tell:
		w.tell()
	case Vanish:
		if w.last == nil || w.last.Did == luasrc.Partial {
			w.t.Fatal("the owner's other holds end, and the server counts some")
		}
		w.left = 0
	case Lower:
		w.lowered = true
	case Discard:
		if w.mayArrive {
			w.t.Fatal("the latch is deleted, and a send may still run")
		}
		w.latch = nil
	case Stray:
		w.stray = true
	case Late:
		w.later = true
	case Wake:
		w.woken = true
	case End:
		w.over = true
		switch {
		case w.u.Verdict == UnsentSoFar && (w.latched || !w.foreign) && w.early():
			w.t.Fatal("its caller was told that it goes on, and it ends")
		case w.left > 0 && !w.later && slices.ContainsFunc(w.flying, func(c copyOf) bool { return c.form == Own || !w.answered }):
			w.t.Fatal("it ends, and nobody is told that a send may still set the lease of the holds that are left")
		}
		if slices.ContainsFunc(w.flying, func(c copyOf) bool { return c.form == Own && c.least == 0 }) && !w.stray {
			w.t.Fatal("it ends, and nobody is told that a send may still run")
		}
	}
}

// early tells whether nothing has run or was refused for good, and the hold is still on the server.
func (w *world) early() bool {
	return w.reached == 0 && !w.final && !w.closed && w.now <= w.u.Unheld
}

// tell compares what the caller is told with the facts.
func (w *world) tell() {
	gone, v := w.releases > 0, w.u.Verdict
	if w.note(v); w.told {
		w.t.Fatalf("it was told before, and now %v", v)
	}
	w.told, w.latched = true, w.u.Form == Latched
	if a := w.last; v == Released && a != nil && a.Did != luasrc.NotHeld && w.u.Why != Repeat {
		switch {
		case a.Unannounced != nil:
			w.t.Fatal("it could not be announced, and nobody hears that")
		case w.u.Why.Called() && w.had != nil && (w.had.N == 0 || w.had.Err != nil):
			w.t.Fatalf("no replica is known to have it, and it says %v", v)
		case w.u.Why.Called() && a.ReplicasUnknown && !a.Unreplicated:
			w.t.Fatalf("it is unknown how many replicas have it, and it says %v", v)
		}
	}
	switch early := w.early(); {
	case v == Expired && (w.u.Form == Own && !w.foreign || w.inParts) && early:
		w.t.Fatalf("it could be sent until %v, and says %v at %v", w.u.Unheld, v, w.now)
	case v == UnsentSoFar && w.u.Form == Own && w.foreign && w.left == 0 && !w.waits && early:
		w.t.Fatalf("others may act as the owner, so that it is not sent again, and it says %v", v)
	}
	switch v {
	case NotHeld, Refused, Queued, UnsentSoFar, Expired, Unreleased, Strayed:
		if gone && w.u.Why != Undo { // no caller hears of an undo, which may outlive its latch
			w.t.Fatalf("it released, and says %v", v)
		}
	case Unanswered:
		if w.reached == 0 && (!w.u.UnderWay || w.expired) {
			w.t.Fatalf("nothing of it has run or is under way, and it says %v", v)
		}
	case Released, Unreplicated, ReplicasUnknown, Unannounced:
		if !gone && w.ours && w.u.Why != Repeat {
			w.t.Fatalf("it did not release, and says %v", v)
		}
		if w.tooMany && !w.foreign && w.u.Form == Own {
			w.t.Fatalf("the server counts %d and %d that the owner does not need, and it says %v", w.ended, w.endedSibling, v)
		}
		if w.last != nil && w.last.Unannounced != nil && w.u.Why.Living() && !w.woken {
			w.t.Fatal("nobody was told, and the waiters here do not look")
		}
	}
}
