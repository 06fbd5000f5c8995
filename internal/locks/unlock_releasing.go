package locks

import (
	"math"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks/release"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/observe"
)

// releasing is one unlock on its way, and the World that package release acts on. A plain reply
// ends it on the goroutine that reads replies. Everything else is handled on another goroutine,
// in Rest.
//
// With two connections for commands, a release goes aside. An acquire of the same name that is
// queued later could then run before it and be refused. So acquires go aside too until the
// release is answered. If one can't, the message of the release counts. If the release itself
// is moved from one connection to the other, its request says that it is out of order.
type releasing struct {
	release.Release
	req   command.Request
	st    *OwnerState
	l     *Lock         // of the hold's kind
	want  kind.Want     // with a latch that never changes; without one in the form Own
	lease time.Duration // that the remaining holds get
	least time.Duration // the shortest that a lost send gives them; 0: none was lost, or it gives them none

	seen   *observe.Call // what its caller reports; nil: nobody observes, or there is no caller
	since  time.Duration // when the hold's acquire was sent
	leaves time.Duration // when its caller leaves, because its ctx has ended; Never: it has left, or will not
	sentAs release.Form  // the form that its command has
	keep   *keeping      // who has the lock afterwards; nil: nobody
	place  *placeTaken   // that its owner may still have in the server's queue; nil: none
	timer  *time.Timer   // answers a caller that has waited too long

	timed      bool // a timer may refer to it
	encoded    bool // its command has been made, in the form sentAs
	unsendable bool // it could not be submitted
	living     bool // its hold was living when it was called
	ownMessage bool // this client does not need its message

	outcome chan error      // gets the outcome; buffered
	then    func(err error) // or this is called with the outcome, with the shard locked
}

// newRelease makes a release. It counts as under way until its outcome is reported; an undo
// counts until it ends.
func newRelease(st *OwnerState, why release.Why, l *Lock, limit time.Duration) *releasing {
	c := l.Client
	r := spare[releasing](&c.spares.releases)
	if why.Called() {
		c.releases.Add()
		if r.outcome, _ = c.spares.outcomes.Get().(chan error); r.outcome == nil {
			r.outcome = make(chan error, 1)
		}
	} else {
		c.work.Add()
	}
	r.Why, r.Limit, r.Retry, r.Sibling = why, limit, c.unlockFor, st.mixed && kind.Sibling(l.kind) != nil
	r.st, r.l, r.lease = st, l, c.Watchdog
	r.want = kind.Want{Names: &l.names, Owner: st, Lease: c.args.Lease, LatchTTL: c.args.LatchTTL, Publish: l.Client.top.Publish(l.slot)}
	r.req.Handler, r.leaves = r, clock.Never
	return r
}

// Start is called with the shard locked, in the owner's command queue.
func (r *releasing) Start() {
	st, n, l := r.st, r.st.name, r.l
	if !r.Begin(r) || r.unsendable {
		r.req.Handler = nil // Rest waits for the request itself
		l.Client.Go(func() { r.Rest(&r.req) })
		return
	}
	if !r.Why.Living() || r.Reported() || st.held > 0 || r.want.Keep.Millis > 0 {
		return
	}
	if n.queues != nil || n.lone != nil {
		r.ownMessage = n.handOff(l)
	}
	if l.Client.Courtesy && l.Traits.FairShare {
		n.noteRelease(l, r.since)
	}
}

// Answered ends the release with a plain reply.
func (r *releasing) Answered(q *command.Request) {
	defer r.st.name.lock.shard.enter(mustNotBlock).leave()
	c := r.l.Client
	if did, err := luasrc.DecodeRelease(q.Wire.Reply); !r.Plain(r, did, q.Unreplicated) && err == nil {
		c.exec.Rest(q)
		return
	}
	if r.Answer(r, r.answer()); !r.timed { // nobody refers to it any more
		if r.seen != nil {
			c.leaveCall(r.seen)
		}
		*r = releasing{}
		c.spares.releases.Put(r)
	}
}

// Rest goes on with a release that got anything but a plain reply.
func (r *releasing) Rest(*command.Request) {
	defer r.st.name.lock.shard.enter(mayBlock).leave()
	if !r.Reported() && r.Limit != clock.Never { // the caller must not wait for a server that stays away
		r.setTimer(r.Limit - r.st.name.Now())
	}
	r.Release.Rest(r)
}

// Facts tells the state of the release. While a send is under way, the request's fields must
// not be read, so only the first four facts are set.
func (r *releasing) Facts() release.Facts {
	st, q, c := r.st, &r.req, r.l.Client
	f := release.Facts{Now: st.name.Now(), Closed: c.Closed(), Reached: q.Reached()}
	if r.UnderWay {
		f.Unwritten = c.exec.Unwritten(q)
		return f
	}
	if f.Left = st.held > 0; st.extras != nil {
		f.Lasts = st.extras.lasts
	}
	if r.l.Traits.Latched {
		f.Foreign = !c.actors.exclusive(st.Owner)
		f.Last, f.Needs = st.held == 0 && behind(st, nil) == 0, r.needs()
	}
	f.MayArrive, f.Answered, f.Replicas = q.MayArrive, q.Fate == command.Answered, q.Wire.Replicas > 0
	f.Barred = r.Why == release.UnlockAs && c.actors.isStray(st.Owner)
	return f
}

// needs is how many holds of its count the owner needs besides the one to be released.
func (r *releasing) needs() int {
	return int(r.st.tally(r.l) + behind(r.st, r.l))
}

// Submit gives the command to the executor.
func (r *releasing) Submit() {
	n, q := r.st.name, &r.req
	if !r.encoded || r.Form == release.Own || r.sentAs != r.Form || r.want.Keep.Millis > 0 { // less is left of that each time
		r.encode()
	}
	q.Until, q.ResultAt, q.Aside = r.Until, min(r.Limit, r.leaves), n.ahead < math.MaxInt16 // ahead must not overflow
	if r.unsendable = !n.lock.shard.enqueue(q); !r.unsendable && q.WentAside {
		n.ahead++
	}
}

// Wait waits for the end of what was submitted.
func (r *releasing) Wait() release.Sent {
	q := &r.req
	if r.unsendable {
		return release.Sent{How: release.Passing, Err: q.Wire.Err}
	}
	r.st.name.lock.shard.await(q)
	s := release.Sent{Err: q.Wire.Err, Split: q.Refusal().Split()}
	switch {
	case q.Fate == command.Answered:
		s.Answer = r.answer()
		return s
	case q.Fate == command.TakenBack:
		s.How = release.TakenBack
		return s
	case q.Fate == command.Lost:
		s.How = release.NoAnswer
	case q.Again > 0:
		s.How = release.ForNow
	case q.Passing():
		s.How = release.Passing
	case q.MayHaveRun():
		s.How = release.Partly
	default:
		s.How = release.Unrun
	}
	r.arrived(false)
	return s
}

// answer decodes the server's reply.
func (r *releasing) answer() release.Answer {
	q := &r.req
	did, err := luasrc.DecodeRelease(q.Wire.Reply)
	if q.WentAside || r.ownMessage {
		r.arrived(!q.OutOfOrder && did == luasrc.Final && q.Unannounced == nil)
	}
	if r.l.Traits.Silent && !r.ownMessage && did == luasrc.Final && err == nil && r.want.Keep.Millis == 0 {
		r.st.name.released(r.l)
	}
	if r.l.Client.failsOver && err == nil {
		r.remember(q)
	}
	if r.Form == release.Own && did == luasrc.Partial && err == nil && r.Why != release.Repeat && !r.st.marked {
		r.l.Client.Log.ActedAs(r.st.name.lock.shard, r.st.eventLock())
	}
	return release.Answer{
		Did: did, Err: err, Unannounced: q.Unannounced, Unreplicated: q.Unreplicated, ReplicasUnknown: q.ReplicasNotKnown,
	}
}

// Settle waits until the release may be sent again. If an earlier send may still set the lease,
// no renewal runs in between.
func (r *releasing) Settle() {
	st, q := r.st, &r.req
	s := st.name.lock.shard
	switch {
	case q.Fate == command.Lost:
		s.barrier(q)
		return
	case q.MayArrive:
		s.without(func() { r.l.Client.sleep(q.Again) })
		return
	}
	for d := q.Again; d > 0; {
		if r.tooLate(d) {
			d = max(min(r.Limit, r.leaves)-st.name.Now(), 0) + time.Millisecond
		}
		st.pause(d)
		if d = 0; r.tooLate(0) { // the pause took longer, or the caller has not been told yet
			d = time.Millisecond
		}
	}
}

// tooLate tells whether a send after d could not be answered before the caller is told. Without
// that send the caller learns that nothing has run; with it the outcome would be uncertain.
func (r *releasing) tooLate(d time.Duration) bool {
	return !r.Reported() && r.req.First == 0 && !r.l.Client.Closed() && min(r.Limit, r.leaves)-r.st.name.Now() < d+r.l.Client.exec.LeastTime()
}

// arrived is called when a send has ended. asExpected says that it released the owner's last
// hold, in the order in which it was queued.
func (r *releasing) arrived(asExpected bool) {
	n := r.st.name
	if r.req.WentAside {
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

// Apply carries out one effect of the release.
func (r *releasing) Apply(e release.Effect) {
	st, c := r.st, r.l.Client
	switch e {
	case release.Tell:
		r.tell()
	case release.Vanish:
		st.lose(r.l, errVanished)
	case release.Leased:
		trust := st.trust(r.req.First, r.lease)
		if r.req.Wire.Sent > r.req.First { // the loss lowered the trust; renewals since then count
			trust = max(trust, st.lease.Expiry())
		}
		st.live(r.req.First, trust)
	case release.Lower:
		if st.mayHaveSet(r.req.Wire.Sent, r.lease); r.least == 0 || r.lease < r.least {
			r.least = r.lease
		}
	case release.Discard:
		if r.want.Latch != nil {
			c.exec.Discard(r.l.slot, r.want.Latch)
		}
	case release.Stray:
		c.stray(st.Owner)
	case release.Late:
		if r.least > 0 || r.l.Traits.Asserts { // a late release to read may end a later hold's key
			st.mayArrive(r.least)
		}
	case release.Wake:
		st.name.wakeHead()
	case release.End:
		if r.place != nil && r.leavesPlace() {
			r.want.Wait = r.place.wait
			r.leaver().Start()
		} else {
			st.done()
		}
		if r.countsToEnd() {
			c.work.Done()
		}
	}
}

// countsToEnd tells whether it counts as work until its End: after nobody waits for it, it may still
// leave the server's queue.
func (r *releasing) countsToEnd() bool { return r.Why == release.Undo || r.Why == release.Repeat }

// leavesPlace tells whether the owner must leave its place in the server's queue after the release. After an
// undo the attempt may have been refused. If a failover undid the grant, the owner has its place
// again: then its unlock finds no hold, whatever an earlier send that was lost may have released,
// or this is the unlock's repetition.
func (r *releasing) leavesPlace() bool {
	switch {
	case r.Why == release.Undo:
		return true
	case r.st.held > 0 || r.Why != release.Repeat && (r.req.Fate != command.Answered || r.req.Wire.Reply != nil):
		return false
	}
	return !r.st.name.passPlaceOn(r.l, r.st.Owner)
}

// encode makes the command of the release's form.
func (r *releasing) encode() {
	st, q := r.st, &r.req
	r.encoded, r.sentAs = true, r.Form
	if st.held > 0 {
		// The lease that the other holds need, not the longest they ever had (H6).
		r.setLease(st.commandLease(0))
	} else {
		st.forget()
		if r.keep != nil {
			r.setLease(max(r.lease, r.keep.until-st.name.Now())) // the owner may have holds in other clients
		}
		if r.l.Traits.KeepsLeases && r.Why != release.UnlockAs {
			r.setLease(0) // what the server still counts has ended, or has its own lease
		}
	}
	q.Wire.KeepReply, q.Wire.Tentative = r.Form == release.Own, r.outcome == nil
	r.want.Left = kind.Left{}
	switch {
	case r.Form == release.Own:
		r.want.Latch = nil
		r.want.Left = kind.Left{Least: r.needs(), Exact: r.Left != release.OneLess}
	case r.want.Latch == nil && r.l.Traits.Latched:
		r.want.Latch = codec.FreshLatch(r.l.key)
	}
	r.want.Keep = kind.Keep{}
	if st.held == 0 && r.keep != nil {
		left := r.keep.until - st.name.Now() + time.Millisecond - 1 // rounded up
		r.want.Keep = kind.Keep{Owner: r.keep.by, Millis: max(left.Milliseconds(), 0)}
	}
	of := r.l.kind
	if r.Left == release.ExactlySibling { // the owner needs none of either
		of, r.want.Left.Least = kind.Sibling(of), 0
	}
	call := of.Release(q.Wire.ArgBuffer[:0], &r.want)
	q.Fill(r.l.slot, call, r.l.Client.Replicas)
	q.Resend = call.Resend
}

// setLease sets the lease that the release leaves to its owner's other holds.
func (r *releasing) setLease(lease time.Duration) {
	r.lease = lease
	r.want.Lease = r.l.Client.leaseArg(lease)
}

// TakeBack takes the release back if it was not written yet, and says why it was not; not back
// is one that is about to end as not sent. It returns nil if it was written.
func (r *releasing) TakeBack() (back bool, why error) {
	switch exec := r.l.Client.exec; {
	case exec.Cancel(&r.req):
		r.arrived(true)
		return true, unwritten(r.l.Client)
	case exec.Unwritten(&r.req):
		return false, unwritten(r.l.Client)
	}
	return false, nil
}

// tell reports the outcome.
func (r *releasing) tell() {
	c := r.l.Client
	if r.timer != nil {
		c.timers.Cancel(r.timer)
	}
	var err error
	if r.Verdict != release.Released {
		err = r.verdict()
	}
	if r.outcome != nil {
		c.releases.Done()
		r.outcome <- err
		return
	}
	if r.then(err); !r.countsToEnd() { // else it counts until its End
		c.work.Done()
	}
}

// setTimer calls LimitPassed after d, which tells the caller what is known.
func (r *releasing) setTimer(d time.Duration) {
	timers := &r.l.Client.timers
	timers.Cancel(r.timer)
	r.timed = true
	r.timer = timers.After(max(d, 0)+time.Millisecond, func() {
		defer r.st.name.lock.shard.enter(mayBlock).leave()
		if left := r.Limit - r.st.name.Now(); left >= 0 && !r.Reported() && !r.l.Client.Closed() {
			r.setTimer(left) // the client's clock is slower than the timer
			return
		}
		r.LimitPassed(r)
	})
}
