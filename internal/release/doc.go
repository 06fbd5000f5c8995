// Package release is the life of one unlock, with all its repetitions.
//
// A [Release] is a pure state machine. It is told what has happened to the
// command by calls of its methods: its turn has come, it was answered, it was
// lost, the limit has passed. Each returns what is to be done now, as an
// [Action]. It has no goroutine, no timer, no connection and no lock, it reads
// no clock, and it calls nobody. Package lockstate sends what it asks for.
//
//	u.act(r.Answered(answer, facts))
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
