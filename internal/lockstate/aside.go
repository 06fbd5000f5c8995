package lockstate

import "math"

// Where there are two connections for commands, a release goes aside, and an
// acquire of the same name that is queued later could run before it and be refused.
// So while the answer of such a release is not there, acquires follow it. If one
// can't, the message of the release counts. Should the release itself be handed
// from one connection to the other, it is out of order and says so.
//
// A ForceUnlock does not go aside. While one may still run, no acquire does: what
// is granted behind it must be sent behind it.

// goesAside decides whether the release goes aside. One too many to be counted
// does not.
func (r *release) goesAside() bool { return r.st.n.aside < math.MaxInt16 }

// countAside counts a release that was queued and went aside.
func (r *release) countAside() {
	if r.req.WentAside && !r.aside {
		r.aside = true
		r.st.n.aside++
	}
}

// notUnderWay ends what countAside began: it is answered, or its connection was lost.
func (r *release) notUnderWay() {
	if r.aside {
		r.aside = false
		r.st.n.aside--
	}
}

// follow has the acquire go where the releases are that it is to run behind.
func (a *attempt) follow() {
	n := a.st.n
	a.follows = n.aside > 0
	a.req.Aside = a.follows && n.s.forcing == 0
}

// hearReleases follows an acquire that could not go where a release is: it may be
// refused before that has run. So every message that comes from now on is of use.
func (a *attempt) hearReleases() {
	if !a.follows || a.req.WentAside {
		return
	}
	if q := a.w.queue(); q != nil {
		q.HearOwnMessages()
	}
}
