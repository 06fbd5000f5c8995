package lockstate

import (
	"errors"
	"math"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/release"
)

// releasing is one unlock on its way, and the World that package release acts on. A plain
// answer ends it on the goroutine that reads replies. All else is dealt with by a
// goroutine of its own, in Rest.
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

	seen       *observe.Call // what its caller tells; nil: nobody observes, or it has none
	since      time.Duration // when the hold's acquire was sent
	leaves     time.Duration // when its caller leaves, whose ctx has ended; 0: it has left, or will not
	sentAs     release.Form  // the form that its command has
	keep       *keeping      // who has the lock then; nil: it is free
	everywhere time.Duration // until when every replica has the hold; 0: not known
	timer      *time.Timer   // tells who waits for too long

	timed      bool // a timer may refer to it
	encoded    bool // its command is that of sentAs
	unsendable bool // it could not be submitted
	counted    bool // the server counts a hold of it until it runs
	kept       bool // its latch is kept for a repetition
	ownMessage bool // its message is of no use to this client

	outcome chan error      // gets the outcome, and has room for it
	then    func(err error) // or this is told, with the shard locked
}

// keeping is who has a lock after its release, and until when. Nobody acts as that owner.
type keeping struct {
	until time.Duration
	by    string
}

// newRelease makes one that counts until its outcome is told.
func (st *OwnerState) newRelease(why release.Why, l *Lock, limit time.Duration) *releasing {
	c := l.c
	r := c.spares.releases.Get().(*releasing)
	if why.Called() {
		c.releases.Add()
		r.outcome = c.spares.outcomes.Get().(chan error)
	} else {
		c.Work.Add()
	}
	r.Why, r.Rules, r.Limit, r.Retry = why, l.Traits, limit, c.UnlockFor
	r.st, r.l, r.lease = st, l, c.Watchdog
	r.want = kind.Want{Names: &l.Names, Owner: st, Lease: c.Args.Lease, LatchTTL: c.Args.LatchTTL, Publish: l.Publish()}
	r.req.Handler = r
	return r
}

// begin is called with the shard locked, in the owner's command queue.
func (r *releasing) begin() {
	st, n, l := r.st, r.st.n, r.l
	if !r.Begin(r) || r.unsendable {
		r.req.Handler = nil // it waits by itself
		l.c.Go(func() { r.Rest(&r.req) })
		return
	}
	if !r.Why.Living() || r.Told() || st.held > 0 || r.want.Keep.Millis > 0 {
		return
	}
	if n.queues != nil || n.only != nil {
		r.ownMessage = n.handOff(l)
	}
	if !l.c.Courtesy || !l.Traits.FairShare {
		return
	}
	if n.fairShare == nil {
		n.fairShare = n.l.s.fairShares.Released(n.l.Key(), r.since, n.now())
	}
	if n.fairShare != nil { // seldom
		n.noteRelease(l)
	}
}

// Answered ends it by a plain answer.
func (r *releasing) Answered(q *command.Request) {
	defer r.st.n.l.s.enter(mustNotBlock).leave()
	c := r.l.c
	if q.Unreplicated {
		c.Exec.Rest(q)
		return
	}
	if r.Answer(r, r.answer()); !r.timed { // nobody refers to it any more
		c.leave(r.seen)
		*r = releasing{}
		c.spares.releases.Put(r)
	}
}

// Rest is the life of one that meets anything else, from then on.
func (r *releasing) Rest(*command.Request) {
	defer r.st.n.l.s.enter(mayBlock).leave()
	if !r.Told() && r.Limit != clock.Never { // the server may stay away; the caller need not
		r.setTimer(r.Limit - r.st.n.now())
	}
	r.Release.Rest(r)
}

// Facts are what is so. What belongs to the request may be asked for while no send is
// under way, but for Reached.
func (r *releasing) Facts() release.Facts {
	st, q, c := r.st, &r.req, r.l.c
	f := release.Facts{Now: st.n.now(), Closed: c.Closed(), Reached: q.Reached()}
	if r.UnderWay() {
		f.Waits = c.Exec.Waiting(q)
		return f
	}
	f.Shown, f.Left, f.Lasts = r.l.Traits.Latched && st.shown(), st.held > 0, st.rare().lasts
	f.MayArrive, f.Answered, f.Replicas = q.MayArrive, q.Fate == command.Answered, q.Wire.Replicas > 0
	switch r.Why {
	case release.UnlockAs:
		f.Barred = c.Actors.IsStray(st.owner)
	case release.Repeat:
		f.Barred, f.Known = r.mayMeetAnother(), st.known(&r.l.Lock)
	}
	return f
}

// Submit gives the command to the executor.
func (r *releasing) Submit() {
	n, q := r.st.n, &r.req
	if !r.encoded || r.sentAs != r.Form {
		r.encode()
	}
	q.Until, q.Told, q.Aside = r.Until, r.tells(), n.ahead < math.MaxInt16 // one too many to be counted does not go aside
	if r.unsendable = !n.l.s.sec.enqueue(q); !r.unsendable && q.WentAside {
		n.ahead++
	}
}

// Wait waits for the end of what was submitted.
func (r *releasing) Wait() release.Sent {
	q := &r.req
	if r.unsendable {
		return release.Sent{How: release.Passing, Err: q.Wire.Err}
	}
	r.st.n.l.s.await(q)
	s := release.Sent{Err: q.Wire.Err, Split: q.Split()}
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

// answer reads the server's answer.
func (r *releasing) answer() release.Answer {
	q := &r.req
	did, err := codec.DecodeRelease(q.Wire.Reply)
	if q.WentAside || r.ownMessage {
		r.arrived(!q.OutOfOrder && did == codec.Final && q.Untold == nil)
	}
	if r.l.c.FailsOver && err == nil {
		r.remember(q, did)
	}
	if r.Form.Once() && did == codec.Partial && r.Why != release.Repeat && err == nil {
		r.l.c.Log.ActedAs(&r.st.n.l.s.sec, r.st.told())
	}
	return release.Answer{
		Did: did, Err: err, Untold: q.Untold, Unreplicated: q.Unreplicated, ReplicasUnknown: q.ReplicasNotKnown, Kept: r.kept,
	}
}

// Settle waits until it may be sent again. Where an earlier send may still set the lease,
// no renewal comes in between.
func (r *releasing) Settle() {
	st, q := r.st, &r.req
	s := st.n.l.s
	switch {
	case q.Fate == command.Lost:
		s.barrier(q)
		return
	case q.MayArrive:
		s.blocks(func() { r.l.c.Sleep(q.Again) })
		return
	}
	for d := q.Again; d > 0; {
		if r.tooLate(d) {
			d = max(r.tells()-st.n.now(), 0) + time.Millisecond
		}
		st.pause(d)
		if d = 0; r.tooLate(0) { // the pause took longer, or he has not been told yet
			d = time.Millisecond
		}
	}
}

// tooLate tells whether a try after d could not be answered before the caller is
// told: it would make unknown that nothing has run.
func (r *releasing) tooLate(d time.Duration) bool {
	return !r.Told() && r.req.First == 0 && !r.l.c.Closed() && r.tells()-r.st.n.now() < d+r.l.c.Exec.LeastTime()
}

// tells is when its caller is told, whatever is known then.
func (r *releasing) tells() time.Duration {
	if r.leaves != 0 {
		return min(r.Limit, r.leaves)
	}
	return r.Limit
}

// arrived follows each end of a send. asExpected says that it has released, in the
// place that it was queued in.
func (r *releasing) arrived(asExpected bool) {
	n := r.st.n
	if r.req.WentAside {
		n.ahead--
	}
	if r.ownMessage && !asExpected {
		r.ownMessage = false
		if q := n.findQueue(r.l, owner.Owner{}); q != nil {
			q.ResetOwnMessages()
		}
		n.step()
	}
}

// Apply does what follows from it for others.
func (r *releasing) Apply(e release.Effect) {
	st, c := r.st, r.l.c
	switch e {
	case release.Tell:
		r.tell()
	case release.Vanish:
		st.lose(&r.l.Lock, errVanished)
	case release.Leased:
		st.live(r.req.First, st.trust(r.req.First, r.lease))
	case release.Lower:
		st.mayHaveSet(r.req.Wire.Sent, r.lease)
	case release.Discard:
		if r.want.Latch != nil {
			c.Exec.Discard(r.l.Slot, r.want.Latch)
		}
	case release.Stray:
		c.stray(st.owner)
	case release.Late:
		st.mayArrive(r.lease)
	case release.Wake:
		st.n.wakeHead()
	case release.End:
		if r.Why == release.Undo && r.l.Traits.ByOwner && !r.want.OneTry {
			st.newLeaver(r.l, r.want, r.since).begin()
		} else {
			st.done()
		}
		if r.Why == release.Undo {
			c.Work.Done()
		}
	}
}

// encode makes the command of the release's form.
func (r *releasing) encode() {
	st, q := r.st, &r.req
	r.encoded, r.sentAs = true, r.Form
	if st.held > 0 {
		// The lease that the other holds need, not the longest they ever had (H6).
		r.leave(st.commandLease(0))
	} else {
		st.forget()
		if r.l.Traits.Asserts && r.Why != release.UnlockAs {
			r.leave(0) // what the server still counts has ended, or has a lease of its own
		}
	}
	q.Wire.KeepReply, q.Wire.Tentative = r.Form.Once(), r.outcome == nil
	r.want.KeyAlone = r.Form == release.KeyAlone
	switch {
	case r.Form.Once():
		r.want.Latch = nil
	case r.want.Latch == nil && r.l.Traits.Latched:
		r.want.Latch = codec.FreshLatch(r.l.Key())
	}
	r.want.Keep = kind.Keep{}
	if st.held == 0 && r.keep != nil {
		left := r.keep.until - st.n.now() + time.Millisecond - 1 // rounded up
		r.want.Keep = kind.Keep{Owner: r.keep.by, Millis: max(left.Milliseconds(), 0)}
	}
	call := r.l.Kind.Release(q.Wire.ArgBuffer[:0], &r.want)
	r.l.c.Fill(q, r.l.Slot, call)
	q.Resend = call.Resend
}

// leave has the release leave its owner's other holds a lease.
func (r *releasing) leave(lease time.Duration) {
	r.lease = lease
	r.want.Lease = r.l.c.LeaseArg(lease)
}

// TakeBack takes it back if it was not written yet.
func (r *releasing) TakeBack() error {
	if !r.l.c.Exec.Cancel(&r.req) {
		return nil
	}
	r.arrived(true)
	return r.l.c.unwritten()
}

// setTimer has the caller told what is known in d.
func (r *releasing) setTimer(d time.Duration) {
	timers := &r.l.c.Timers
	timers.Cancel(r.timer)
	r.timed = true
	r.timer = timers.After(max(d, 0)+time.Millisecond, func() {
		defer r.st.n.l.s.enter(mayBlock).leave()
		r.LimitPassed(r)
	})
}

// tell tells the outcome.
func (r *releasing) tell() {
	c := r.l.c
	c.Timers.Cancel(r.timer)
	var err error
	if r.Verdict != release.Released {
		err = r.verdict()
	}
	if r.outcome != nil {
		c.releases.Done()
		r.outcome <- err
		return
	}
	if r.then(err); r.Why != release.Undo { // which counts until its waiter leaves
		c.Work.Done()
	}
}

// errUnknowable is why a kind can't be asked.
var errUnknowable = errors.New("what it did can't be known")

// Ask asks the server what the release wants to know.
func (r *releasing) Ask(about release.Question) release.Reply {
	n, c := r.st.n, r.l.c
	of, limit := kind.HoldCount, r.Limit
	switch about {
	case release.Replicas:
		return r.askReplicas()
	case release.TTL:
		of = kind.RemainTTL
	case release.Shown:
		limit = min(r.Until, n.now()+c.LatchTTL)
	}
	query := r.l.Kind.Ask(of, &r.want)
	if query.Empty() {
		return release.Reply{Err: errUnknowable}
	}
	reply, err := r.l.ask(query.Call, limit)
	var a kind.Answer
	if err == nil {
		a, err = query.Answer(reply)
	}
	switch {
	case about == release.TTL:
		r.leave(max(a.TTL, c.Watchdog))
	case about == release.Count && err == nil && a.N <= r.st.known(&r.l.Lock):
		n.l.s.foundNothing(r.want.Latch)
	}
	return release.Reply{N: a.N, Err: err}
}

// askReplicas asks the replicas once more.
func (r *releasing) askReplicas() (a release.Reply) {
	s := r.st.n.l.s
	s.sec.queued = true
	answer := make(chan release.Reply, 1)
	asks, err := r.l.c.Exec.AwaitReplicas(&r.req, func(acked int, err error) {
		answer <- release.Reply{N: int64(acked), Err: err}
	})
	if !asks { // there are none any more, or err says why
		return release.Reply{N: 1, Err: err}
	}
	s.blocks(func() { a = <-answer })
	return a
}
