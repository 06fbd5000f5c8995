package release

import (
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Release is one unlock. The first group of fields is set by its maker; the second
// is read by its World, whose lock guards all.
type Release struct {
	Why     Why           // what it is for
	Sibling bool          // the owner may also have holds that are counted separately
	Limit   time.Duration // when its caller is told, whatever is known; with a latch it is not repeated after this (R1)
	Unheld  time.Duration // when the hold has expired on the server if nothing is sent; 0: not to be waited for
	Retry   time.Duration // for how long a latch answers for repetitions

	Form     Form          // in which it is sent
	Left     Left          // how much it leaves, in the form Own
	Until    time.Duration // not sent after this
	Question Question      // what is, or was last, asked
	Reply    Reply         // to that
	Verdict  Verdict       // what was told, or is to be told
	Failed   error         // the last trouble
	UnderWay bool          // a send of it is under way, or was lost and may still run
	Over     bool          // it has ended

	begun  bool // it was sent
	paused bool // nothing of it is under way, and it is sent again after a pause
	split  bool // a send found its keys in two places
	lost   bool // a send was lost
	frees  bool // a send of it, in the form Own, was to leave nothing
	more   bool // one ran and left more than the client needs, which the sends that follow take away
	needs  int  // Facts.Needs at the last send
	unsure bool // of that one it is not known whether a replica has it
	again  bool // one ran, no replica had it, and it was sent once more
}

// Begin sends the unlock, when its turn in the owner's command queue has come. It does not
// block. It reports false if the server must be asked first, or if nothing is to be sent: then
// Rest must be called.
func (u *Release) Begin(w World) bool {
	f := w.Facts()
	if u.Why == UnlockAs && (f.Foreign || f.Barred) {
		return false
	}
	u.choose(f)
	if _, ends := u.ends(w, f); ends {
		return false
	}
	u.begun, u.UnderWay = true, true
	w.Submit()
	return true
}

// Plain tells whether Answer can take the reply to the first send. If not, there is more to do, and
// Rest must be called.
func (u *Release) Plain(w World, did luasrc.Release, unreplicated bool) bool {
	if unreplicated || did != luasrc.Partial {
		return !unreplicated
	}
	u.UnderWay = false
	more := u.tooMuch(w.Facts(), did)
	u.UnderWay = more
	return !more
}

// Answer ends the unlock with a plain reply to its first send. It does not block.
func (u *Release) Answer(w World, a Answer) {
	u.UnderWay = false
	u.end(w, u.answered(w, a))
}

// Rest does all that remains to be done, and blocks until the unlock has ended.
func (u *Release) Rest(w World) {
	if v := u.live(w); !u.Over { // else it was taken back, which has ended it
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
		u.choose(w.Facts())
	}
	for {
		if !u.UnderWay {
			if v, ends := u.ends(w, w.Facts()); ends {
				return v
			}
			u.begun, u.UnderWay = true, true
			w.Submit()
		}
		s := w.Wait()
		u.UnderWay = s.How == NoAnswer
		switch s.How {
		case Ran:
			if v := u.answered(w, s.Answer); v != Open {
				return v
			}
		case NoAnswer:
			u.lost, u.Failed = true, s.Err
			w.Apply(Lower)
			w.Settle() // nothing is decided before
			u.UnderWay = false
		case ForNow:
			u.Failed = s.Err
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
	case u.Why == UnlockAs && u.Reported():
		return Open, true // its caller may have sent another one
	case u.Why == UnlockAs && f.Barred:
		return Strayed, true
	case u.Why == UnlockAs && f.Foreign:
		switch a := u.ask(w, TTL); {
		case u.Reported() || a.Err == nil:
			return Open, u.Reported()
		case w.Facts().Closed:
			return Closed, true
		default:
			u.Failed = a.Err
			return Unreleased, true
		}
	}
	return Open, false
}

// choose decides in which form it is sent, and until when.
func (u *Release) choose(f Facts) {
	u.Form, u.Until = Latched, u.Limit
	if u.Left = Exactly; u.Why.Living() {
		u.Left = OneLess
	}
	switch {
	case !f.Foreign:
		u.Form, u.Until = Own, max(u.Limit, u.Unheld, f.Lasts)
	case u.Reported():
		u.Until = f.Now + u.Retry // its caller waits no longer; the server still counts the hold
	}
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
func (u *Release) ends(w World, f Facts) (v Verdict, ends bool) {
	switch {
	case u.Why == UnlockAs && u.Reported():
		return Open, true // its caller may have sent another one
	case u.Why == Repeat && f.Foreign:
		return Released, true
	case u.Why == Retract && f.Foreign:
		return Foreign, true
	case u.Form == Own && f.Foreign && f.Reached == 0:
		u.begun = false // nothing of it has run
		if v, ends := u.before(w); ends {
			return v, true
		}
		u.choose(w.Facts()) // with a latch
		return u.ends(w, w.Facts())
	case u.Form == Own && f.Foreign && u.more && !u.lost: // what is left may be another's by now
		if u.unsure && u.called() {
			return ReplicasUnknown, true
		}
		return Released, true
	case u.Form == Own && f.Foreign:
		return Foreign, true
	case u.Reported() && u.Form == Latched && (f.Reached != 0 || !f.Left && !u.split):
		// The owner's next command must not wait for ever. The key of the last hold expires.
		// But if holds are left, the server would count this one for as long as they are
		// renewed, so it is sent on.
		return Open, true
	case u.Reported() && f.Needs > 0 && f.Reached != 0:
		return Open, true // if it did not run, the owner's last unlock makes up for it
	case u.Form == Own:
		u.needs = f.Needs
		u.frees = u.frees || u.needs == 0
	}
	return Open, false
}

// answered handles the server's reply. Open: the unlock is sent once more.
func (u *Release) answered(w World, a Answer) Verdict {
	switch {
	case u.Why == Repeat && u.tooMuch(w.Facts(), a.Did):
		u.takeMore(a)
		return Open
	case u.Why == Repeat:
		return Released // whatever it found
	case a.Err != nil:
		u.Failed = a.Err
		w.Apply(Lower)
		return Refused
	case u.Form == Own:
		return u.answeredOwn(w, a)
	}
	return u.answeredLatched(w, a)
}

// tooMuch tells whether the server still counts holds of an owner that has none, as far as its
// client knows: their leases ended by themselves, or their unlocks never ran. No other client can
// have made them.
func (u *Release) tooMuch(f Facts, did luasrc.Release) bool {
	switch {
	case u.Form != Own || !f.Last || f.Foreign || did == luasrc.Final:
		return false
	case did == luasrc.NotHeld: // an earlier send left some, or its lost reply may have said so
		return (u.lost || u.more) && u.Sibling && u.Left != ExactlySibling
	}
	return u.Left == OneLess || u.needs > 0 || u.Sibling && u.Left == Exactly
}

// takeMore makes the next send leave nothing, first of this count, then of its sibling.
func (u *Release) takeMore(a Answer) {
	u.more, u.lost, u.unsure = true, false, a.Unreplicated || a.ReplicasUnknown
	switch {
	case a.Did == luasrc.NotHeld:
		u.Left = ExactlySibling
	case u.Left == OneLess || u.needs == 0:
		u.Left++
	}
}

// answeredOwn handles the reply to a release without a latch.
func (u *Release) answeredOwn(w World, a Answer) Verdict {
	f := w.Facts()
	switch {
	case u.tooMuch(f, a.Did):
		u.takeMore(a)
		return Open
	case a.Did == luasrc.Partial && f.Left:
		w.Apply(Leased)
	case f.Left:
		w.Apply(Vanish)
	}
	if a.Unannounced != nil {
		u.wake(w)
	}
	switch {
	case a.Did == luasrc.NotHeld && (u.lost || u.more):
		return u.gone(w)
	case a.Did == luasrc.NotHeld: // it published nothing
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
	case a.ReplicasUnknown && u.called():
		return ReplicasUnknown
	}
	return u.released(a)
}

// answeredLatched handles the reply to a release with a latch.
func (u *Release) answeredLatched(w World, a Answer) Verdict {
	unreplicated := a.Did != luasrc.NotHeld && a.Unreplicated && u.called()
	if unreplicated && !u.again {
		u.again = true
		return Open // with the same latch: it does not count twice
	}
	f := w.Facts()
	if !f.MayArrive {
		w.Apply(Discard)
	}
	switch {
	case a.Did == luasrc.Partial && f.Left:
		w.Apply(Leased)
	case f.Left:
		w.Apply(Vanish)
	}
	if a.Unannounced != nil {
		u.wake(w)
	}
	switch {
	case unreplicated:
		return Unreplicated
	case a.Did != luasrc.NotHeld:
		return u.released(a)
	}
	if u.wake(w); f.MayArrive {
		w.Apply(Stray) // no latch was set that would stop it
	}
	return NotHeld
}

// released is what is known of a release that ran.
func (u *Release) released(a Answer) Verdict {
	if a.Unannounced == nil {
		return Released
	}
	u.Failed = a.Unannounced
	return Unannounced
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
	case u.Why == UnlockAs:
		return Unreleased
	}
	return Expired
}

// Reported tells whether the caller was told the Verdict.
func (u *Release) Reported() bool { return u.Verdict != Open }

// called tells whether a caller still waits for the outcome.
func (u *Release) called() bool { return u.Why.Called() && !u.Reported() }

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
	if v != Open && !u.Reported() {
		u.Verdict = v
		w.Apply(Tell)
	}
}

// end tells the caller the verdict and ends the unlock. If the server has answered, a latch keeps
// late sends from running. Without one they release none of the owner's holds, unless they were to
// leave nothing.
func (u *Release) end(w World, v Verdict) {
	u.Over = true
	u.tell(w, v)
	f := w.Facts()
	if f.MayArrive && u.frees {
		w.Apply(Stray)
	}
	if f.MayArrive && (!f.Answered || u.Form == Own && f.Left) {
		w.Apply(Late)
	}
	w.Apply(End)
}
