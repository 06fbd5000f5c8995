package release

import (
	"time"

	"github.com/rlock-go/redisson/codec"
)

// Why is what an unlock is for.
type Why uint8

// Whoever calls Unlock or UnlockAs waits for the outcome; of the others nobody does.
const (
	Unlock   Why = iota // of a living hold, by its caller
	Lost                // of a hold that was lost before, by its caller
	UnlockAs            // of one hold of an owner of which nothing is known here
	GiveBack            // of a living hold that no caller has
	Vain                // of a hold that no caller has, and that does not live
	Undo                // of what an acquire may have got
	Repeat              // of what was released before, and a failover may have undone
)

// Called tells whether a caller waits for the outcome.
func (w Why) Called() bool { return w <= UnlockAs }

// Living tells whether a living hold ends with it, whose end others wait for.
func (w Why) Living() bool { return w == Unlock || w == GiveBack }

// Form is how an unlock is sent.
type Form uint8

// The forms.
const (
	Latched  Form = iota // a latch keeps its result
	Once                 // without a latch: its owner is used once
	KeyAlone             // the same, with the lock as its only key
)

// once tells whether it goes without a latch, since any number of sends are as good as one.
func (f Form) once() bool { return f == Once || f == KeyAlone }

// Action is a set of things to be done, in this order.
type Action uint32

// What is to be done. Of those from Send on, one is asked for at most.
const (
	Acted    Action = 1 << iota // log that somebody else acts as the owner
	Vanish                      // end the owner's holds: it has none on the server
	Leased                      // the holds that are left have the lease, from the first send on
	Lower                       // the last send may have set the lease: lower trust
	Discard                     // delete the latch
	Stray                       // record that a send may run which no latch keeps from it
	Late                        // record that a send may run which sets the lease
	Wake                        // have this client's waiters look: perhaps nothing was published
	SetTimer                    // call Tick when Limit has passed
	Tell                        // tell the outcome, Verdict
	Encode                      // make the command of Form; the holds that are left decide its lease
	Send                        // send it until Until; report Fail, with Passing, if it can't be
	TakeBack                    // take it back, and report Fail, with Passing; if it was written meanwhile, call Tick again
	Pause                       // call Resume after the pause
	Ask                         // ask Question, and report Heard
	End                         // let the owner's next command go
)

// Has tells whether a is to be done.
func (do Action) Has(a Action) bool { return do&a != 0 }

// Question is what is asked of the server before it goes on.
type Question uint8

// The questions.
const (
	None     Question = iota // so far
	TTL                      // for how long the key lives: UnlockAs sets it
	Count                    // how many holds the server counts, before it is sent again after a failover
	Held                     // whether the owner holds: the script met an error, perhaps behind its first change
	Shown                    // how many holds the server counts: it was lost, and its owner shown meanwhile
	Announce                 // whether an announcement is allowed: the send that was lost may have failed at it
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
	InPart                         // it released, and then met Failed
	Uncertain                      // it was sent, and never answered
	Unanswered                     // it has no answer so far
	Queued                         // an earlier command of its owner, or the read of the TTL, has no answer so far
	UnsentSoFar                    // nothing of it has run, and it goes on in the background
	Expired                        // nothing of it has run, and nothing will
	Unreleased                     // the same, of UnlockAs: nothing will expire by that
	Closed                         // the client was closed before
	Strayed                        // an earlier unlock of its owner may still arrive
	Unannounced                    // the owner holds nothing; what released it can't be told, see Reply
	ShownUnkilled                  // it was lost, its owner shown, and it may still arrive
	ShownUnknown                   // it was lost, its owner shown, and Reply does not tell whether it ran
)

// Facts are what is so when something happens.
type Facts struct {
	Now       time.Duration // needed in all events but Answered and Failed
	Shown     bool          // others may act as the owner
	Left      bool          // the owner has holds left
	Barred    bool          // UnlockAs: an unlock of the owner may still arrive. Repeat: it could release another hold
	Closed    bool          // the client is closed
	MayArrive bool          // a send may still run: the connection it was lost on could not be killed
	Answered  bool          // the last send was answered
	Replicas  bool          // the last send was followed by a question to replicas
	Reached   time.Duration // the first send that may have run; 0: there was none
	Lasts     time.Duration // until when the server may keep the key for another command that was not answered
	Known     int64         // how many holds the server counts as far as is known here, of a Repeat
}

// Answer is the server's answer to the last send.
type Answer struct {
	Did             codec.Release // what it did
	Err             error         // it met this, or is of no shape that is known
	Unreplicated    bool          // no replica acknowledged it, although some were asked
	ReplicasUnknown bool          // some were asked, and their answer was cut off
	Kept            bool          // its latch is needed for a Repeat
}

// Failure is how a send ended that was neither answered nor is sent again.
type Failure uint8

// The failures.
const (
	Unrun   Failure = iota // refused, and nothing of it ran
	Passing                // the same, or not sent, and a later send might have been taken
	Partly                 // refused, and it may have run, or a part of it
	Unknown                // it has no answer
)

// Reply is the answer to a Question.
type Reply struct {
	Yes bool  // Held
	N   int64 // Count, Shown, Replicas
	Err error // there is no answer
}
