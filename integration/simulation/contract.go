package simulation

// Clause names something that the contract allows, and that a rule would report otherwise.
type Clause string

const (
	lostByServer    Clause = "data lost"
	formerMaster    Clause = "former master"
	forced          Clause = "forced"
	uncertainKey    Clause = "uncertain"
	unavailableKey  Clause = "unlock unavailable"
	closedKey       Clause = "closed"
	sharedUnlock    Clause = "shared unlock before a failover"
	unreplicatedKey Clause = "unreplicated"
	sharedOwner     Clause = "shared owner"
	sleepsOn        Clause = "nobody wakes after lost data"
	javaException   Clause = "exception in Java"
	shorterLease    Clause = "a lease got shorter"
	deadPlace       Clause = "place of a killed waiter"
	expiredPlace    Clause = "place that expired"
	fairLooks       Clause = "a fair lock whose first waiter was not told"
	killRefused     Clause = "CLIENT KILL refused"
	replicaLacks    Clause = "numbers after a failover"
	madeAnew        Clause = "another object of the name"
)

// terms is a clause with the sentence of docs/guarantees.md that allows it, word by word.
type terms struct {
	Clause   Clause
	Section  string // of the page
	Sentence string
}

// contract is everything that rules let pass.
var contract = []terms{
	{lostByServer, "in-short", "**If the server loses its data**, two can be inside until the first one [notices](#how-soon-a-loss-is-noticed)."},
	{formerMaster, "what-no-lease-can-promise", "a promoted replica may lack the lock, and the former master may grant locks until its clients learn of the new one."},
	{forced, "what-no-lease-can-promise", "The holder [notices](#how-soon-a-loss-is-noticed) it afterwards."},
	{uncertainKey, "what-erruncertain-leaves", "`ErrUncertain` means that a command was sent, and that the client could not find out in time whether it ran."},
	{unavailableKey, "fault-by-fault", "Nothing ran. Unless another process may act as this owner (`As`), the unlock goes on while the lease lasts"},
	{closedKey, "the-life-of-a-hold", "`Close` sends no unlocks, so the keys expire."},
	{sharedUnlock, "what-no-lease-can-promise", "Then the lock stays taken until its lease ends."},
	{unreplicatedKey, "what-no-lease-can-promise", "If the new master lacks a release, the client [sends it again](dev/protocol.md#unlocked-before-a-failover), except in three cases: it is more than 15 s old, some thousands followed it, or others may act as the owner by then, even if nobody could when the unlock was sent."},
	{sharedOwner, "what-no-lease-can-promise", "If another process takes the lock as the same owner with a shorter lease, the key can expire under your hold."},
	{sleepsOn, "fault-by-fault", "`FLUSHALL` wakes no waiter, so they try again when the TTL that they last saw expires, or when a hold in their client is lost"},
	{killRefused, "what-no-lease-can-promise", "It can keep a free lock taken for a lease, make a count one too high, or shorten a lease, and after a forced unlock or an `ErrUncertain` it can free a later lock."},
	{shorterLease, "what-no-lease-can-promise", "**Leases that get shorter**, by `Extend` or a nested `Unlock`. Waiters elsewhere still try again by the TTL that they last saw."},
	{deadPlace, "fair-locks", "It keeps everyone behind it out of the free lock until it expires, which takes the lease, the waits before it and its own wait, together at least 5 min at defaults."},
	{expiredPlace, "fair-locks", "Its waiter queues again, at the end."},
	{fairLooks, "who-gets-in-and-when", "Waiters of read-write locks and semaphores always try each second, and those of permits and fair locks every 5 s."},
	{replicaLacks, "permits", "Even so, a failover may lose changes in three cases, because `WAIT` can't detect them:"},
	{madeAnew, "permits", "They are not counted on a server that came back empty, or that has another object of the name: an unanswered one is `ErrUncertain`."},
	// How Java behaves is no promise of the page. docs/dev/wire.md says it.
	{javaException, "", ""},
}

// allow records that a clause let something pass.
func (p *play) allow(c Clause) { p.res.Allowed[c]++ }
