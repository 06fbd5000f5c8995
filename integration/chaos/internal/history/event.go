package history

type What string

const (
	Called   What = "call"     // an acquire begins: Lock, Mode, Lease, Owner if it is asked for, Outer
	Held     What = "held"     // it returned a hold: Owner, Until
	Refused  What = "refused"  // it returned an error: Kind
	Trust    What = "trust"    // ValidUntil was read, or moved: Until
	Lost     What = "lost"     // the client reported the loss to the holder
	Unlock   What = "unlock"   // the unlock begins
	Unlocked What = "unlocked" // it returned: Kind
	Odd      What = "odd"      // an outcome that no contract names: Kind, Text
	Tick     What = "tick"     // only a sign of life
	Closed   What = "closed"   // the client is closed: Goroutines more than before it was opened, Text their stacks
	Idle     What = "idle"     // all workers of the process have finished
	Ready    What = "ready"    // the process is connected: Owner is the first half of all its owners
	Other    What = "other"    // another call returned: Mode is its name, Kind its outcome
)

// Event is one thing that a process did or saw. What says which fields are set.
type Event struct {
	At     int64  `json:"t"`
	What   What   `json:"w"`
	Op     int64  `json:"o,omitempty"` // number of the acquisition, unique in its process
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

	Read    bool   `json:"rd,omitempty"` // of Called: the read lock of a pair
	Token   *int64 `json:"n,omitempty"`  // of Held: the fencing token, if it was asked for
	Permits int    `json:"pn,omitempty"` // of Called: how many are wanted
	Place   string `json:"p,omitempty"`  // of Held: the owner's name in a queue on the server, if that is not Owner
}

// The values of Event.Kind that the checker acts on. All others are only counted.
const (
	OK        = "ok"
	NotHeld   = "not held"
	LostLease = "lease lost"
	Uncertain = "uncertain"
	Locked    = "locked"
	Reentered = "reentered" // refused, because its owner is inside
	Kept      = "kept"      // not unlocked, because others may hold as its owner by now
)

// The values of Event.Mode in events that are no call.
const (
	Moved = "moved" // of Trust: an extension or a re-entry changed it
	Left  = "left"  // of Unlocked: the owner may hold more
)

// Sighting is what an observer read of a lock on the server, at one moment between Asked and Answered.
type Sighting struct {
	Asked, Answered int64
	Lock            int
	Owners          map[string]int // number of holds by owner
	TTL             int64          // in ms; -2: there is no key
	Set             bool           // of a set, where a failover may come between: no hold is judged by it
}

func (b *Book) Saw(s Sighting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sightings = append(b.sightings, s)
}

// Queue is a fair lock's wait queue on the server, at one moment between Asked and Answered.
type Queue struct {
	Asked, Answered int64
	Lock            int
	Places          []Place // the first is next
}

// Place is one owner's place in a queue.
type Place struct {
	Owner string
	Until int64 // when it expires, by the server's data at that moment
}

func (b *Book) SawQueue(q Queue) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queues = append(b.queues, q)
}
