package history

type What string

const (
	Called   What = "call"     // an acquire begins: Lock, Mode, Lease, Owner if it is asked for, Outer
	Held     What = "held"     // it returned a hold: Owner, Until
	Refused  What = "refused"  // it returned an error: Kind
	Trust    What = "trust"    // ValidUntil was read, or moved: Until
	Lost     What = "lost"     // the holder was told of the loss
	Unlock   What = "unlock"   // the unlock begins
	Unlocked What = "unlocked" // it returned: Kind
	Odd      What = "odd"      // an outcome that no contract names: Kind, Text
	Tick     What = "tick"     // nothing but a sign of life
	Closed   What = "closed"   // the client is closed: Goroutines more than before it was opened, Text their stacks
	Idle     What = "idle"     // all workers of the process have finished
	Ready    What = "ready"    // the process is connected: Owner, the first half of all that it makes
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
	Kept      = "kept"      // not unlocked, as others may hold as its owner by now
)

// Further words in Event.Mode.
const (
	Moved = "moved" // of Trust: by an extension or a re-entry, not by reading alone
	Left  = "left"  // of Unlocked: the owner may hold more
)

// Sighting is what the server showed of a lock, at one moment between two instants, to somebody who only looks.
type Sighting struct {
	Asked, Answered int64
	Lock            int
	Owners          map[string]int // with how many holds each
	TTL             int64          // in ms; -2: there is no key
}

func (b *Book) Saw(s Sighting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sightings = append(b.sightings, s)
}

// Queue is what the server showed of those who wait for a fair lock, at one moment between two instants.
type Queue struct {
	Asked, Answered int64
	Lock            int
	Places          []Place // the first is next
}

// Place is one owner's in a queue.
type Place struct {
	Owner string
	Until int64 // when its time is over as the server then had it
}

func (b *Book) SawQueue(q Queue) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queues = append(b.queues, q)
}
