package history

// What is the kind of an event.
type What string

const (
	Called   What = "call"     // an acquire begins: Lock, Mode, Lease, Owner if it is asked for, Outer
	Held     What = "held"     // it returned a hold: Owner, Until
	Refused  What = "refused"  // it returned an error: Kind
	Trust    What = "trust"    // ValidUntil was read, or moved: Until
	Lost     What = "lost"     // the holder was told of the loss
	Unlock   What = "unlock"   // the unlock begins
	Unlocked What = "unlocked" // it returned: Kind
	Counted  What = "count"    // HoldCount: Want, Got, asked at From
	Odd      What = "odd"      // an outcome that no contract names: Kind, Text
	Tick     What = "tick"     // nothing but a sign of life
	Closed   What = "closed"   // the client is closed: Goroutines more than before it was opened, Text their stacks
	Idle     What = "idle"     // all workers of the process have finished
	Ready    What = "ready"    // the process is connected: Owner, the first half of all that it makes
	Did      What = "did"      // a call that takes nothing returned: Kind, Got
	Other    What = "other"    // another call returned: Mode says which, Kind how
)

// Event is one thing that a process did or saw. Which fields count depends on What.
type Event struct {
	At     int64  `json:"t"`
	What   What   `json:"w"`
	Op     int64  `json:"o,omitempty"` // the acquisition that it is about, a number unique in its process
	Worker int    `json:"k,omitempty"`
	Lock   int    `json:"l,omitempty"`
	Owner  string `json:"id,omitempty"`
	Outer  int64  `json:"in,omitempty"` // the acquisition that this one re-enters
	Mode   string `json:"m,omitempty"`
	Lease  int64  `json:"ls,omitempty"` // fixed, in nanoseconds; 0: the watchdog's
	Until  int64  `json:"u,omitempty"`
	Kind   string `json:"r,omitempty"`
	Text   string `json:"x,omitempty"`
	From   int64  `json:"f,omitempty"`
	Want   int    `json:"cw,omitempty"`
	Got    int    `json:"cg,omitempty"`

	Goroutines int `json:"g,omitempty"`

	Read    bool   `json:"rd,omitempty"` // of Called: the read lock of two
	Token   *int64 `json:"n,omitempty"`  // of Held: the fencing token, if it was asked for
	Permits int    `json:"pn,omitempty"` // of Called: how many are wanted
	Place   string `json:"p,omitempty"`  // of Held: its owner as a queue on the server has it, if that is not Owner
}

// The outcomes that decide something, by Event.Kind. There are others, which are only counted.
const (
	OK        = "ok"
	NotHeld   = "not held"
	LostLease = "lease lost"
	Uncertain = "uncertain"
	Locked    = "locked"
	Reentered = "reentered" // refused, because its owner is inside
)

// Further words in Event.Mode.
const (
	Await     = "await" // of Called: the calls of a latch, whatever their names
	CountDown = "countDown"
	Counting  = "count"
	Set       = "set" // of what a semaphore or latch begins with, by the stage

	Moved = "moved" // of Trust: by an extension or a re-entry, not by reading alone
	Left  = "left"  // of Unlocked: the owner may hold more
)
