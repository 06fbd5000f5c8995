// Package release decides how one unlock goes, with all its repetitions.
//
// A [Release] is one unlock, from before its first send to its end. It acts through a
// [World], which waits, asks and sends for it. Package locks' World is the executor
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
// If others may act as its owner, an unlock carries a latch. The server keeps the result there,
// so however many of its sends run, only one counts (R1).
//
// While only this client acts as the owner, nobody else knows how many holds it has. So an unlock
// has no latch, and says how many holds it leaves: one less than the server counts, but never
// fewer than the client needs, which are the living holds and those whose unlocks wait behind it.
// A repetition carries the numbers of its own time, so it takes none of these. All other releases
// leave exactly what the client needs: of a hold that was lost, of a grant that no caller wants,
// of an owner without a Hold here, and after a failover. An unlock doesn't, because its owner's
// text may leave while it is under way: then another process may have acquired as the owner before
// it runs.
//
//   - "Not there" after a send that was lost says that the owner holds nothing,
//     but not that anything was announced.
//   - "Holds left" for an owner that needs none says that the leases of holds ended by themselves,
//     or that unlocks never ran. The next send takes these away, and its answer is the caller's.
//   - Once others may act as the owner, a repetition could release what they have acquired. So
//     nothing is repeated.
//
// # Two places
//
// While a cluster moves a slot, the slot's keys are in two places. The keys of an unlock with a
// latch are the lock, its channel and the latch. Of these only the lock exists before the unlock
// runs. No server has all of them, so the unlock is answered TRYAGAIN until the slot has settled,
// which may never happen. Nothing of it runs until then. It is repeated until the slot has settled,
// or until the hold has expired on the server. A plain lock's form without a latch has only the
// lock as its key, so the server that has it runs the unlock.
//
// # Repetitions after a failover
//
// A master may answer an unlock and then be replaced by one that lacks it. Package
// unlock remembers unlocks and sends them again as a [Repeat], unless others may act as the
// owner by then (R5).
package release
