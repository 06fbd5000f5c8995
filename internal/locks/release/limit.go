package release

import "cmp"

// CallerLeft tells the caller of an UnlockAs, who waits no longer, what is known.
func (u *Release) CallerLeft(w World) {
	u.Limit = 0
	u.LimitPassed(w)
}

// LimitPassed tells the caller what is known when the limit has passed.
func (u *Release) LimitPassed(w World) {
	f := w.Facts()
	switch {
	case u.Reported() || u.Over || f.Now <= u.Limit: // Close runs all timers at once
	case !u.begun:
		u.tell(w, Queued)
	case u.Why == UnlockAs && u.paused && f.Reached == 0:
		u.tell(w, Unreleased)
	case u.Why == UnlockAs && f.Reached == 0 && f.Unwritten:
		u.takeBack(w)
	case u.Why == UnlockAs:
		u.tell(w, Unanswered)
	case f.Reached != 0:
		u.tell(w, Uncertain)
	case u.paused && !u.split && (u.Form == Latched || f.Foreign && !f.Left): // it is not sent after its limit
		u.tell(w, Expired)
	case (u.Form == Own || u.split) && (u.paused || f.Unwritten):
		u.tell(w, UnsentSoFar)
	case u.Form == Own || u.split || !f.Unwritten:
		u.tell(w, Unanswered)
	default:
		u.takeBack(w)
	}
}

// takeBack ends the unlock, unless it has just been written. One that is about to end by itself as not sent
// ends then: after its limit it is not sent again.
func (u *Release) takeBack(w World) {
	back, why := w.TakeBack()
	if why == nil {
		u.tell(w, Unanswered)
		return
	}
	u.Failed = cmp.Or(u.Failed, why)
	if !back {
		u.tell(w, u.failed(w, TakenBack))
		return
	}
	u.UnderWay = false
	u.end(w, u.failed(w, TakenBack))
}

// Unsent tells whether the unlock waits to be sent and nothing of it has run.
func (u *Release) Unsent(w World) bool {
	f := w.Facts()
	return f.Reached == 0 && (!u.begun || u.paused || f.Unwritten)
}
