package release

import (
	"cmp"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
)

// Release is one unlock. The first group of fields is set by its maker; the second
// is read by its World, whose lock guards all.
type Release struct {
	Why    Why           // what it is for
	Rules  *kind.Traits  // of the kind of lock
	Limit  time.Duration // when its caller is told, whatever is known; with a latch it is not repeated after this (R1)
	Unheld time.Duration // when the hold has expired on the server if nothing is sent; 0: not to be waited for
	Retry  time.Duration // for how long a latch answers for repetitions

	Form     Form          // in which it is sent
	Until    time.Duration // not sent after this
	Question Question      // what is, or was last, asked
	Reply    Reply         // to that
	Verdict  Verdict       // what was told, or is to be told
	Failed   error         // the last trouble

	begun  bool // it was sent
	open   bool // a send of it is under way, or was lost and may still run
	paused bool // nothing of it is under way, and it is sent again after a pause
	split  bool // a send found its keys in two places
	lost   bool // a send was lost
	again  bool // one ran, no replica had it, and it was sent once more
	over   bool
}

// Begin sends the unlock, when its turn in the owner's command queue has come. It does not
// block. It reports false if the server must be asked first, or if nothing is to be sent: then
// Rest must be called.
func (u *Release) Begin(w World) bool {
	if u.Why == UnlockAs || u.Why == Repeat && w.Facts().Known > 0 {
		return false
	}
	u.choose(w)
	if _, ends := u.ends(w); ends {
		return false
	}
	u.submit(w)
	return true
}

// Answer ends the unlock with the reply to its first send. It does not block. It reports false
// if there is more to do: then Rest must be called.
func (u *Release) Answer(w World, a Answer) bool {
	if a.Unreplicated {
		return false
	}
	u.open = false
	u.end(w, u.answered(w, a))
	return true
}

// Rest does all that remains to be done, and blocks until the unlock has ended.
func (u *Release) Rest(w World) {
	if v := u.live(w); !u.over { // else it was taken back, which has ended it
		u.end(w, v)
	}
}

// live sends the unlock until it ends, and returns what is known then; Open: the caller was
// told.
func (u *Release) live(w World) Verdict {
	if !u.begun {
		if v, ends := u.before(w); ends {
			return v
		}
		u.choose(w)
	}
	for {
		if !u.open {
			if v, ends := u.ends(w); ends {
				return v
			}
			u.submit(w)
		}
		s := w.Wait()
		u.open = s.How == NoAnswer
		switch s.How {
		case Ran:
			if v := u.answered(w, s.Answer); v != Open {
				return v
			}
		case NoAnswer:
			u.lost, u.Failed = true, s.Err
			w.Apply(Lower)
			w.Settle() // nothing is decided before
			u.open = false
		case ForNow:
			if u.Failed = s.Err; s.Split && u.Form == Once && !w.Facts().Shown {
				u.Form = KeyAlone // which one of the two servers has
				break
			}
			u.refused(w, s.Split)
		case TakenBack:
			return Open
		default:
			u.Failed = s.Err
			return u.failed(w, s.How)
		}
	}
}

// before asks the server what must be known first. ends says that the unlock is not to be sent.
func (u *Release) before(w World) (v Verdict, ends bool) {
	f := w.Facts()
	switch {
	case u.Why == UnlockAs && u.Told():
		return Open, true // its caller may have sent another one
	case u.Why == UnlockAs && f.Barred:
		return Strayed, true
	case u.Why == UnlockAs:
		switch a := u.ask(w, TTL); {
		case u.Told() || a.Err == nil:
			return Open, u.Told()
		case w.Facts().Closed:
			return Closed, true
		default:
			u.Failed = a.Err
			return Unreleased, true
		}
	case u.Why == Repeat && !f.Barred && f.Known > 0:
		a := u.ask(w, Count)
		return Released, a.Err != nil || a.N <= f.Known
	}
	return Open, false
}

// choose decides in which form it is sent, and until when.
func (u *Release) choose(w World) {
	f := w.Facts()
	u.Form, u.Until = Latched, u.Limit
	switch {
	case u.Rules.Once && !f.Shown:
		u.Form, u.Until = Once, max(u.Limit, u.Unheld, f.Lasts)
	case u.Told():
		u.Until = f.Now + u.Retry // its caller waits no longer; the server still counts the hold
	}
}

func (u *Release) submit(w World) {
	u.begun, u.open = true, true
	w.Submit()
}

// refused waits before the unlock is sent again, after a send of which nothing ran.
func (u *Release) refused(w World, split bool) {
	if split && u.Form == Latched {
		u.split = true
		if w.Facts().Reached == 0 && u.Until != clock.Never {
			u.Until = max(u.Until, u.Unheld)
		}
	}
	u.paused = true
	w.Settle()
	u.paused = false
}

// ends decides whether the unlock ends instead of being sent (again).
func (u *Release) ends(w World) (v Verdict, ends bool) {
	switch f := w.Facts(); {
	case u.Why == UnlockAs && u.Told():
		return Open, true // its caller may have sent another one
	case u.Why == Repeat && f.Barred:
		return Released, true
	case u.Form.Once() && f.Shown && f.Reached != 0 && f.MayArrive:
		return ShownUnkilled, true
	case u.Form.Once() && f.Shown && f.Reached != 0:
		return u.count(w), true
	case u.Form.Once() && f.Shown:
		u.choose(w) // with a latch: nothing of it has run
		return u.ends(w)
	case u.Told() && !u.Form.Once() && (f.Reached != 0 || !f.Left && !u.split):
		// The owner's next command must not wait for ever. The key of the last hold expires.
		// But if holds are left, the server would count this one for as long as they are
		// renewed, so it is sent on.
		return Open, true
	}
	return Open, false
}

// count decides by the server's count of holds, because the owner was shown.
func (u *Release) count(w World) Verdict {
	if a := u.ask(w, Shown); a.Err != nil || a.N != 0 {
		return ShownUnknown
	}
	if w.Facts().Left {
		w.Apply(Vanish)
	}
	return u.gone(w)
}

// answered handles the server's reply. Open: the unlock is sent once more.
func (u *Release) answered(w World, a Answer) Verdict {
	switch {
	case u.Why == Repeat:
		// The latch may have answered for an earlier send, so the reply says nothing of the
		// holds that the owner has by now.
		return Released
	case a.Err != nil:
		u.Failed = a.Err
		w.Apply(Lower)
		return Refused
	case u.Form.Once():
		return u.answeredOnce(w, a)
	}
	return u.answeredLatched(w, a)
}

// answeredOnce handles the reply to a release without a latch.
func (u *Release) answeredOnce(w World, a Answer) Verdict {
	if a.Did != codec.Partial && w.Facts().Left {
		w.Apply(Vanish)
	}
	switch {
	case a.Did == codec.NotHeld && u.lost:
		return u.gone(w)
	case a.Did == codec.NotHeld: // it published nothing
		u.wake(w)
		return NotHeld
	case a.Unreplicated && u.called():
		// The replicas are asked once more. The script is not repeated: on another connection
		// WAIT would say nothing of what the first send wrote.
		switch r := u.ask(w, Replicas); {
		case r.Err != nil:
			return ReplicasUnknown
		case r.N == 0:
			return Unreplicated
		}
		return Released
	case a.ReplicasUnknown && u.called():
		return ReplicasUnknown
	}
	return u.released(w, a)
}

// answeredLatched handles the reply to a release with a latch.
func (u *Release) answeredLatched(w World, a Answer) Verdict {
	unreplicated := a.Did != codec.NotHeld && a.Unreplicated && u.called()
	if unreplicated && !u.again {
		u.again = true
		return Open // with the same latch: it does not count twice
	}
	f := w.Facts()
	if !f.MayArrive && !a.Kept {
		w.Apply(Discard)
	}
	switch {
	case a.Did == codec.Partial && f.Left:
		w.Apply(Leased)
	case f.Left:
		w.Apply(Vanish)
	}
	switch {
	case unreplicated:
		return Unreplicated
	case a.Did != codec.NotHeld:
		return u.released(w, a)
	}
	if u.wake(w); f.MayArrive {
		w.Apply(Stray) // no latch was set that would stop it
	}
	return NotHeld
}

// released is what is known of a release that ran.
func (u *Release) released(w World, a Answer) Verdict {
	if a.Untold == nil {
		return Released
	}
	u.Failed = a.Untold
	u.wake(w)
	return Untold
}

// failed is what is known of an unlock that is not sent any more, or never was, and has no
// result.
func (u *Release) failed(w World, how How) Verdict {
	f := w.Facts()
	switch {
	case how == Partly && !f.Closed:
		w.Apply(Lower)
		u.wake(w)
		return InPart
	case f.Reached != 0:
		return Uncertain // if a repetition was refused, the send that was lost may have run
	case how == Unrun && !f.Closed:
		return Refused
	case f.Closed:
		return Closed
	}
	return Expired
}

// Leave tells the caller of an UnlockAs, who waits no longer, what is known.
func (u *Release) Leave(w World) {
	u.Limit = 0
	u.LimitPassed(w)
}

// LimitPassed tells the caller what is known when the limit has passed.
func (u *Release) LimitPassed(w World) {
	f := w.Facts()
	switch {
	case u.Told() || u.over || f.Now <= u.Limit: // Close runs all timers at once
	case !u.begun:
		u.tell(w, Queued)
	case u.Why == UnlockAs && u.paused && f.Reached == 0:
		u.tell(w, Unreleased)
	case u.Why == UnlockAs:
		u.tell(w, Unanswered)
	case f.Reached != 0:
		u.tell(w, Uncertain)
	case u.paused && u.Form == Latched && !u.split: // it is not sent after its limit
		u.tell(w, Expired)
	case (u.Form.Once() || u.split) && (u.paused || f.Waits):
		u.tell(w, UnsentSoFar)
	case u.Form.Once() || u.split || !f.Waits:
		u.tell(w, Unanswered)
	default:
		u.takeBack(w)
	}
}

// takeBack ends the unlock, unless it has just been written.
func (u *Release) takeBack(w World) {
	why := w.TakeBack()
	if why == nil {
		u.tell(w, Unanswered)
		return
	}
	u.open, u.Failed = false, cmp.Or(u.Failed, why)
	u.end(w, u.failed(w, TakenBack))
}

// Unsent tells whether the unlock waits to be sent and nothing of it has run.
func (u *Release) Unsent(w World) bool {
	f := w.Facts()
	return f.Reached == 0 && (!u.begun || u.paused || f.Waits)
}

// Told tells whether the caller was told the Verdict.
func (u *Release) Told() bool { return u.Verdict != Open }

// UnderWay tells whether a send is under way, or was lost and may still run.
func (u *Release) UnderWay() bool { return u.open }

// SentAgain tells whether the unlock was sent once more because no replica had it.
func (u *Release) SentAgain() bool { return u.again }

// called tells whether a caller still waits for the outcome.
func (u *Release) called() bool { return u.Why.Called() && !u.Told() }

// gone is what is known of a release without a latch that had a send lost and whose owner holds
// nothing: that send ran, and the count of replicas was lost with its reply.
func (u *Release) gone(w World) Verdict {
	if u.wake(w); w.Facts().Replicas {
		return ReplicasUnknown
	}
	return Released
}

// wake makes the waiters look if a living hold was to end. After an undo an attempt is made
// anyway.
func (u *Release) wake(w World) {
	if u.Why.Living() {
		w.Apply(Wake)
	}
}

func (u *Release) ask(w World, q Question) Reply {
	u.Question = q
	u.Reply = w.Ask(q)
	return u.Reply
}

// tell tells the caller the verdict, once.
func (u *Release) tell(w World, v Verdict) {
	if v != Open && !u.Told() {
		u.Verdict = v
		w.Apply(Tell)
	}
}

// end tells the caller the verdict and ends the unlock. If the server has answered, the latch
// keeps late sends from running.
func (u *Release) end(w World, v Verdict) {
	u.over = true
	u.tell(w, v)
	f := w.Facts()
	if f.MayArrive && u.Form.Once() {
		w.Apply(Stray)
	}
	if f.MayArrive && !f.Answered {
		w.Apply(Late)
	}
	w.Apply(End)
}
