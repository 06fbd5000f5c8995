// Package release is the life of one unlock, with all its repetitions.
//
// A [Release] is that life, written from its first send to its end. It acts by a [World],
// which waits, asks and sends for it: package lockstate's is the executor and what is
// known of the owner, the tests' is a server in virtual time that goes through every
// sequence of what may happen. It has no goroutine, no timer and no lock of its own, and
// reads no clock.
//
// Nearly all unlocks are sent ([Release.Begin]), answered ([Release.Answer]) and over, and
// neither blocks: the first is called in the command queue of its owner, the second by the
// goroutine that reads replies. What meets anything else goes on by [Release.Rest], which
// blocks, on a goroutine of its own. [Release.LimitPassed] tells its caller what is known
// meanwhile.
//
// However an unlock goes, its caller is told once, at the limit at the latest;
// the command ends once; and no hold is released twice.
//
// # Forms
//
// An unlock that may meet another hold of its owner carries a latch: the server
// keeps the result there, so however many of its sends run, one of them counts
// (R1). An owner that was made for one acquisition, and never shown to anybody, is
// used once. No other command can make its field, so its unlock may run any number
// of times: it finds the field or does not. It goes without a latch, where the
// kind has such a form, and says less:
//
//   - "Not there" after a send that was lost says that the owner holds nothing,
//     but not that anything was announced.
//   - "Holds left" says that somebody acts as this owner nevertheless.
//   - Once the owner is shown, a repetition could release what somebody else has
//     acquired as this owner. Then the count decides, and nothing is repeated.
//
// # Two places
//
// While a cluster moves a slot, its keys are in two places. An unlock has the
// lock, its channel and perhaps a latch as keys, of which only the lock exists
// before it runs. No server has all of them, so the unlock is answered TRYAGAIN
// until the slot has settled, which may never happen. Nothing of it runs until
// then. The form without a latch is sent again at once with the lock as its only
// key, which one of the two servers has. The form with a latch is repeated until
// the slot has settled, or the server has dropped what is released.
//
// # Repetitions after a failover
//
// A master answers an unlock and is replaced by another one that lacks it. Package
// lockstate remembers such unlocks, and sends them again as a [Repeat]. None may
// release another hold, of this owner or of another: that is what [Facts].Barred
// and the count are for (R5).
package release
