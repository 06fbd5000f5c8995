package release

import (
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// Why is what an unlock is for.
type Why uint8

// A caller waits for the outcome of Unlock, Lost and UnlockAs; nobody waits for that of the
// others.
const (
	Unlock   Why = iota // of a living hold, by its caller
	Lost                // of a hold that was lost before, by its caller
	UnlockAs            // of one hold of an owner that has no Hold in this client
	GiveBack            // of a living hold that no caller has
	Vain                // of what no caller has, and is no living hold
	Retract             // of what an acquire may have got, for an owner that is used again; not sent for a foreign owner
	Undo                // of what an acquire may have got, for an owner that was made for it
	Repeat              // of what was released before, since a failover may have undone that
)

// Called tells whether a caller waits for the outcome.
func (w Why) Called() bool { return w <= UnlockAs }

// Living tells whether it ends a living hold, whose release others wait for.
func (w Why) Living() bool { return w == Unlock || w == GiveBack }

// Form is how an unlock is sent.
type Form uint8

// The forms.
const (
	Latched Form = iota // a latch keeps its result: others may act as the owner
	Own                 // without a latch: only this client acts for the owner, and says how many holds are left
)

// Left is how many holds a release in the form Own leaves to its owner.
type Left uint8

// A release leaves one of these, or what is left of it.
const (
	OneLess        Left = iota // one less than the server counts, but at least as many as the client needs
	Exactly                    // as many as the client needs
	ExactlySibling             // the same, of the holds that are counted separately
)

// World is what an unlock acts on. All methods are called in one critical section. Wait, Settle
// and Ask may block, and leave the section while they do.
type World interface {
	Wait() Sent         // waits for the end of what was submitted
	Settle()            // waits until it may be sent again: behind the kill barrier if it was lost, else for a pause, during which the owner's renewals may run
	Ask(Question) Reply // asks the server

	Submit() // sends it in its Form, until Until; the holds that are left decide the lease
	// TakeBack takes back what was not written yet, and says why it was not; Wait then returns
	// TakenBack. back is false for what is about to end as not sent, and if it was written: then
	// why is nil.
	TakeBack() (back bool, why error)
	Facts() Facts // the state of things
	Apply(Effect)
}

// Effect is what an unlock does to others.
type Effect uint8

// The effects.
const (
	Tell    Effect = iota // the caller gets the Verdict
	Vanish                // the owner's holds end: it has none on the server
	Leased                // the remaining holds have the lease, from the first send on
	Lower                 // the last send may have set the lease: trust is lowered
	Discard               // the latch is deleted
	Stray                 // a send may still run and release a later hold of the owner
	Late                  // a send may still run, and set the lease
	Wake                  // this client's waiters look, since perhaps nothing was published
	End                   // the owner's next command may begin; no effect follows
)

// Question is what is asked of the server before it goes on.
type Question uint8

// The questions.
const (
	None     Question = iota // nothing was asked so far
	TTL                      // for how long the key lives: an UnlockAs of a foreign owner sets it
	Replicas                 // how many replicas have what it did
)

// Verdict is what is known of the outcome when it is told.
type Verdict uint8

// The verdicts.
const (
	Open            Verdict = iota // nothing was told
	Released                       // it ran
	NotHeld                        // the owner did not hold
	Unreplicated                   // it ran, and no replica has it
	ReplicasUnknown                // it ran, and whether a replica has it is not known
	Refused                        // Failed says why
	Unannounced                    // it released, but that could not be announced, as Failed says
	InPart                         // its script met Failed, and may have run in part
	Uncertain                      // it was sent, and never answered
	Unanswered                     // it has no reply so far
	Queued                         // an earlier command of its owner, or the read of the TTL, has no reply so far
	UnsentSoFar                    // nothing of it has run, and it goes on in the background
	Expired                        // nothing of it has run, and nothing will
	Unreleased                     // the same, of UnlockAs: the hold need not expire
	Closed                         // the client was closed before it ran
	Strayed                        // an earlier unlock of its owner may still arrive
	Foreign                        // it was lost and is not sent again, because others may act as the owner by now
)

// Facts are the state of things when World.Facts is called. While a send is under way
// (Release.UnderWay) only the first four are known.
type Facts struct {
	Now       time.Duration
	Closed    bool          // the client is closed
	Reached   time.Duration // the first send that may have run; 0: there was none
	Unwritten bool          // what was submitted waits to be written

	Foreign   bool          // others may act as the owner
	Left      bool          // the owner has holds left
	Last      bool          // it has none left, and no unlock of one waits behind this one
	Needs     int           // how many holds it has left, or behind this one, of those that are counted together
	Barred    bool          // UnlockAs: an unlock of the owner may still arrive
	MayArrive bool          // a send may still run: the connection it was lost on could not be killed
	Answered  bool          // the last send was answered
	Replicas  bool          // the last send was followed by a question to replicas
	Lasts     time.Duration // until when the server may keep the key because of another command that was not answered
}

// Sent is how a send ended.
type Sent struct {
	How    How
	Err    error  // why, of one that did not run
	Answer Answer // of one that ran
	Split  bool   // ForNow: its keys are in two places
}

// How is how a send ended.
type How uint8

// The ends.
const (
	Ran       How = iota // the server answered
	NoAnswer             // it was lost, and may have run or run yet
	ForNow               // nothing of it ran, and it is to be sent again
	Unrun                // nothing of it ran, and that is final
	Passing              // the same, but a later send might have been accepted, or it was not sent
	Partly               // refused, and it may have run, or a part of it
	TakenBack            // TakeBack took it back
)

// Answer is the server's answer to the last send.
type Answer struct {
	Did             luasrc.Release // what it did
	Err             error          // the reply has an unknown shape
	Unannounced     error          // why it could not be announced
	Unreplicated    bool           // no replica acknowledged it, although some were asked
	ReplicasUnknown bool           // some were asked, and their reply was cut off
}

// Reply is the answer to a Question.
type Reply struct {
	N   int64 // Replicas
	Err error // there is no answer
}
