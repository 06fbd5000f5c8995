package lockstate

import (
	"cmp"
	"errors"
	"math"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/release"
)

// releasing is one unlock on its way. What it does next is the release's to say:
// each event is reported to that, and act does what it asks for.
//
// Where there are two connections for commands, a release goes aside, and an acquire
// of the same name that is queued later could run before it and be refused. So while
// the answer of such a release is not there, acquires follow it. If one can't, the
// message of the release counts. Should the release itself be handed from one
// connection to the other, it is out of order and says so.
type releasing struct {
	release.Release
	req   command.Request
	st    *OwnerState
	l     *Lock         // of what kind the hold is
	want  kind.Want     // with a latch that never changes; without one in the form for owners that are used once
	lease time.Duration // what the holds that are left get
	last  kind.Call     // to be sent behind it; mostly empty

	seen       *seen         // what its caller tells; nil: nobody observes, or it has none
	since      time.Duration // when the hold's acquire was sent
	everywhere time.Duration // until when every replica has the hold; 0: not known
	timer      *time.Timer   // tells who waits for too long

	timed      bool // a timer may refer to it
	counted    bool // the server counts a hold of it until it runs
	kept       bool // its latch is kept for a repetition
	ownMessage bool // its message is of no use to this client

	outcome chan error      // gets the outcome, and has room for it
	then    func(err error) // or this is told, with the shard locked
}

// newRelease makes one that counts until its outcome is told.
func (st *OwnerState) newRelease(why release.Why, l *Lock, limit time.Duration) *releasing {
	c := l.c
	r := c.spares.releases.Get().(*releasing)
	if why.Called() {
		c.releases.Add()
		r.outcome = c.spares.outcomes.Get().(chan error)
	} else {
		c.work.Add()
	}
	r.Why, r.Rules, r.Limit, r.Retry = why, l.traits, limit, c.unlockFor
	r.st, r.l, r.lease = st, l, c.o.Watchdog
	r.want = kind.Want{Names: &l.names, Owner: st, Lease: c.args.lease, LatchTTL: c.args.latchTTL, Publish: l.publish()}
	r.req.Handler = r
	return r
}

// begin is called with the shard locked, in the owner's command queue.
func (r *releasing) begin() {
	st, n, l := r.st, r.st.n, r.l
	r.act(r.Begin(r.facts(n.now())))
	if !r.Why.Living() || !r.Sent() || r.Verdict != release.Open || st.held > 0 {
		return
	}
	if n.queues != nil || n.only != nil {
		r.ownMessage = n.handOff(l)
	}
	if !l.c.o.Courtesy || !l.traits.FairShare {
		return
	}
	if n.fairShare == nil {
		n.fairShare = n.l.s.fairShares.Released(n.l.Key(), r.since, n.now())
	}
	if n.fairShare != nil { // seldom
		n.noteRelease(l)
	}
}

// facts are what is so while no send is under way.
func (r *releasing) facts(now time.Duration) release.Facts {
	st, q := r.st, &r.req
	f := release.Facts{
		Now: now, Shown: r.l.traits.Latched && st.shown(), Left: st.held > 0, Closed: r.l.c.Closed(), Lasts: st.rare().lasts,
		MayArrive: q.MayArrive, Answered: q.Fate == command.Answered, Replicas: q.Wire.Replicas > 0, Reached: q.First,
	}
	switch r.Why {
	case release.UnlockAs:
		f.Barred = r.l.c.actors.strays.has(st.owner)
	case release.Repeat:
		f.Barred, f.Known = r.mayMeetAnother(), st.known(r.l)
	}
	return f
}

// Done takes the end of its command.
func (r *releasing) Done(q *command.Request) {
	defer r.st.n.l.s.enter(mustNotBlock).leave()
	if q.Fate != command.Answered {
		r.arrived(false)
		how := release.Unrun
		switch {
		case q.Fate == command.Lost:
			how = release.Unknown
		case q.Passing():
			how = release.Passing
		case q.MayHaveRun():
			how = release.Partly
		}
		r.act(r.Fail(how, q.Wire.Err, r.facts(0)))
		return
	}
	did, err := codec.DecodeRelease(q.Wire.Reply)
	if q.WentAside || r.ownMessage {
		r.arrived(!q.OutOfOrder && did == codec.Final)
	}
	if r.l.c.failsOver && err == nil {
		r.remember(q, did)
	}
	r.act(r.Answered(release.Answer{
		Did: did, Err: err, Unreplicated: q.Unreplicated, ReplicasUnknown: q.ReplicasNotKnown, Kept: r.kept,
	}, r.facts(0)))
	if r.Straight() && !r.timed { // nobody refers to it any more
		spares := &r.l.c.spares
		*r = releasing{}
		spares.releases.Put(r)
	}
}

// Unanswered follows the loss of its connection.
func (r *releasing) Unanswered(q *command.Request) {
	defer r.st.n.l.s.enter(mustNotBlock).leave()
	r.arrived(false)
	r.act(r.Lost(q.Wire.Err))
}

// Paused has it sent again after d: behind the barrier, or because what was
// refused or never left did not run.
func (r *releasing) Paused(q *command.Request, d time.Duration) {
	defer r.st.n.l.s.enter(mustNotBlock).leave()
	if d == 0 {
		r.resume()
		return
	}
	r.arrived(false)
	do := r.Refused(q.Wire.Err, q.Split(), r.facts(r.st.n.now()))
	r.act(do)
	switch {
	case !do.Has(release.Pause):
	case !q.MayArrive:
		r.st.pause(d, r.resume)
	default: // an earlier send may still set the lease, so nothing comes in between
		r.l.c.timers.After(d, func() {
			defer r.st.n.l.s.enter(mayBlock).leave()
			r.resume()
		})
	}
}

func (r *releasing) resume() { r.act(r.Resume(r.facts(r.st.n.now()))) }

// arrived follows each end of a send. asExpected says that it has released, in the
// place that it was queued in.
func (r *releasing) arrived(asExpected bool) {
	n := r.st.n
	if r.Sent() && r.req.WentAside {
		n.ahead--
	}
	if r.ownMessage && !asExpected {
		r.ownMessage = false
		if q := n.findQueue(r.l, Owner{}); q != nil {
			q.ResetOwnMessages()
		}
		n.step()
	}
}

// act does what the release asks for. It is called with the shard locked.
func (r *releasing) act(do release.Action) {
	st, n, c := r.st, r.st.n, r.l.c
	if do.Has(release.Acted) {
		c.log.ActedAs(&n.l.s.sec, st.told())
	}
	if do.Has(release.Vanish) {
		st.lose(r.l, errVanished)
	}
	if do.Has(release.Leased) {
		st.live(r.req.First, st.trust(r.req.First, r.lease))
	}
	if do.Has(release.Lower) {
		st.mayHaveSet(r.req.Wire.Sent, r.lease)
	}
	if do.Has(release.Discard) && r.want.Latch != nil {
		c.exec.Discard(r.l.slot, r.want.Latch)
	}
	if do.Has(release.Stray) {
		c.stray(st.owner)
	}
	if do.Has(release.Late) {
		st.mayArrive(r.lease)
	}
	if do.Has(release.Wake) {
		n.wakeHead()
	}
	if do.Has(release.SetTimer) {
		r.setTimer(r.Limit - n.now())
	}
	if do.Has(release.Tell) {
		r.tell()
	}
	if do.Has(release.Encode) {
		r.encode()
	}
	switch {
	case do.Has(release.Send):
		r.send()
	case do.Has(release.TakeBack):
		r.takeBack()
	case do.Has(release.Ask):
		r.ask()
	case do.Has(release.End) && !r.last.Empty():
		r.l.leaveServer(r.last, st.done)
	case do.Has(release.End):
		st.done()
	}
}

// encode makes the command of the release's form.
func (r *releasing) encode() {
	st, q := r.st, &r.req
	if st.held > 0 {
		// The lease that the other holds need, not the longest they ever had (H6).
		r.leave(st.commandLease(0))
	} else {
		st.forget()
		if r.l.traits.Asserts && r.Why != release.UnlockAs {
			r.leave(0) // what the server still counts has ended, or has a lease of its own
		}
	}
	once := r.Form == release.Once || r.Form == release.KeyAlone
	q.Wire.KeepReply, q.Wire.Tentative = once, r.outcome == nil
	r.want.KeyAlone = r.Form == release.KeyAlone
	switch {
	case once:
		r.want.Latch = nil
	case r.want.Latch == nil && r.l.traits.Latched:
		r.want.Latch = codec.FreshLatch(r.l.Key())
	}
	if r.Why == release.Undo {
		r.last = r.l.kind.Leave(&r.want)
	}
	call := r.l.kind.Release(q.Wire.ArgBuffer[:0], &r.want)
	r.l.c.fill(q, r.l.slot, call)
	q.Resend = call.Resend
}

// leave has the release leave its owner's other holds a lease.
func (r *releasing) leave(lease time.Duration) {
	r.lease = lease
	r.want.Lease = r.l.c.leaseArg(lease)
}

// send gives the command to the executor.
func (r *releasing) send() {
	n, q := r.st.n, &r.req
	q.Until, q.Aside = r.Until, n.ahead < math.MaxInt16 // one too many to be counted does not go aside
	if !n.l.s.sec.enqueue(q) {
		r.act(r.Fail(release.Passing, q.Wire.Err, r.facts(n.now())))
		return
	}
	if q.WentAside {
		n.ahead++
	}
}

// takeBack takes it back if it was not written yet.
func (r *releasing) takeBack() {
	if !r.l.c.exec.Cancel(&r.req) {
		r.act(r.Tick(false, r.factsUnderWay()))
		return
	}
	r.arrived(true)
	r.act(r.Fail(release.Passing, cmp.Or(r.Failed, errUnwritten), r.facts(r.st.n.now())))
}

// waits tells whether it waits to be written.
func (r *releasing) waits() bool { return r.Sent() && r.l.c.exec.Waiting(&r.req) }

// factsUnderWay are what may be read while a send is under way.
func (r *releasing) factsUnderWay() release.Facts {
	return release.Facts{Now: r.st.n.now(), Closed: r.l.c.Closed(), Reached: r.req.Reached()}
}

// setTimer has the caller told what is known in d.
func (r *releasing) setTimer(d time.Duration) {
	timers := &r.l.c.timers
	timers.Cancel(r.timer)
	r.timed = true
	r.timer = timers.After(max(d, 0)+time.Millisecond, func() {
		defer r.st.n.l.s.enter(mayBlock).leave()
		if !r.Told() {
			r.act(r.Tick(r.waits(), r.factsUnderWay()))
		}
	})
}

// tell tells the outcome.
func (r *releasing) tell() {
	c := r.l.c
	c.timers.Cancel(r.timer)
	var err error
	if r.Verdict != release.Released {
		err = r.verdict()
	}
	if r.outcome != nil {
		c.releases.Done()
		r.outcome <- err
	} else {
		r.then(err)
		c.work.Done()
	}
}

// errUnknowable is why a kind can't be asked.
var errUnknowable = errors.New("what it did can't be known")

// ask asks the server what the release wants to know.
func (r *releasing) ask() {
	n, c, limit := r.st.n, r.l.c, r.st.n.now()+r.l.c.o.Timeout
	var query kind.Query
	switch r.Question {
	case release.Replicas:
		r.askReplicas()
		return
	case release.TTL:
		query, limit = r.l.kind.Ask(kind.RemainTTL, &r.want), r.Limit
	case release.Count:
		query, limit = r.l.kind.Ask(kind.HoldCount, &r.want), r.Limit
	case release.Shown:
		query, limit = r.l.kind.Ask(kind.HoldCount, &r.want), min(r.Until, n.now()+c.latchTTL)
	case release.Held:
		query = r.l.kind.Ask(kind.HeldBy, &r.want)
	case release.Announce:
		query = r.l.kind.Ask(kind.Announced, &r.want)
	}
	if query.Empty() {
		r.act(r.Heard(release.Reply{Err: errUnknowable}, r.facts(n.now())))
		return
	}
	r.l.askLater(query.Call, limit, func(reply any, err error) {
		defer n.l.s.enter(mustNotBlock).leave()
		var a kind.Answer
		if err == nil && query.Answer != nil {
			a, err = query.Answer(reply)
		}
		if r.Question == release.TTL {
			r.leave(max(a.TTL, c.o.Watchdog))
		}
		r.act(r.Heard(release.Reply{Yes: a.Yes, N: a.N, Err: err}, r.facts(n.now())))
	})
}

// askReplicas asks the replicas once more.
func (r *releasing) askReplicas() {
	n := r.st.n
	n.l.s.sec.queued = true
	asks, err := r.l.c.exec.AwaitReplicas(&r.req, func(acked int, err error) {
		defer n.l.s.enter(mustNotBlock).leave()
		r.act(r.Heard(release.Reply{N: int64(acked), Err: err}, r.facts(n.now())))
	})
	if !asks { // there are none any more, or err says why
		r.act(r.Heard(release.Reply{N: 1, Err: err}, r.facts(n.now())))
	}
}
