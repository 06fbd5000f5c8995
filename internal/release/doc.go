// Package release decides how one unlock goes, with all its repetitions.
//
// A [Release] is one unlock, from before its first send to its end. It acts through a
// [World], which waits, asks and sends for it. Package unlock's World is the executor
// and the state of the owner. The tests' World is a server in virtual time that goes
// through every sequence of events. A Release has no goroutine, no timer and no lock, and
// reads no clock.
//
// Nearly all unlocks are sent ([Release.Begin]), answered ([Release.Answer]) and over.
// Neither call blocks: Begin is called in the owner's command queue, Answer on the
// goroutine that reads replies. In all other cases [Release.Rest] goes on. It blocks, so it
// needs another goroutine. [Release.LimitPassed] tells the caller meanwhile what is known.
//
// However an unlock goes, the caller is told once, at the limit at the latest; the command
// ends once; and no hold is released twice.
//
// # Forms
//
// An unlock that may meet another hold of its owner carries a latch. The server keeps the
// result there, so however many of its sends run, only one counts (R1). An owner that was
// made for one acquisition, and never shown to anybody, is used once. No other command can
// create its field, so its unlock may run any number of times: it finds the field or does
// not. It is sent without a latch if the kind has such a form. Then the replies say less:
//
//   - "Not there" after a send that was lost says that the owner holds nothing,
//     but not that anything was announced.
//   - "Holds left" says that somebody acts as this owner nevertheless.
//   - Once the owner is shown, a repetition could release what somebody else has acquired
//     as this owner. Then the server's count of holds decides, and nothing is repeated.
//
// # Two places
//
// While a cluster moves a slot, the slot's keys are in two places. The keys of an unlock
// are the lock, its channel and perhaps a latch. Of these only the lock exists before the
// unlock runs. No server has all of them, so the unlock is answered TRYAGAIN until the slot
// has settled, which may never happen. Nothing of it runs until then. The form without a
// latch is sent again at once with the lock as its only key, which one of the two servers
// has. The form with a latch is repeated until the slot has settled, or until the hold has
// expired on the server.
//
// # Repetitions after a failover
//
// A master may answer an unlock and then be replaced by one that lacks it. Package
// unlock remembers unlocks and sends them again as a [Repeat]. None may release another
// hold, of this owner or of another: [Facts].Barred and the server's count of holds prevent
// that (R5).
package release
