package history

import "fmt"

// Side is a language.
type Side string

// The languages that take part.
const (
	Go   Side = "Go"
	Java Side = "Java"
)

// Process is one process in one life. A restarted one has the next life.
type Process struct {
	Side Side
	Row  int // which of its side, the same over restarts
	Life int
}

// String is the process as a violation's text names it.
func (p Process) String() string { return fmt.Sprintf("%s%d/%d", p.Side, p.Row, p.Life) }

// Acquisition is one acquire and what became of it. Times are Now's; 0 is never.
type Acquisition struct {
	Process Process
	Op      int64
	Worker  int
	Lock    int
	Owner   string // empty if it was not granted and not asked for
	Outer   int64
	Asked   bool // the owner was given, so it may hold already
	Mode    string
	Lease   int64

	Called, Returned int64
	Held             bool
	Refusal          string
	Until            int64 // end of trust as last read
	Lost             int64
	Unlock, Unlocked int64
	Outcome          string
	Died             int64 // the process was killed meanwhile
	Moved            bool  // its lease is not the one it began with
	Left             bool  // after its unlock its owner may hold more
	Counts           []Count

	Read    bool   // of the read lock of two
	Permits int    // of a semaphore; else 0
	Token   *int64 // nil: not asked for
	Got     int    // of a call that takes nothing: what it said
	Place   string // its owner as a queue on the server has it
}

// Count is an answer to the question for the hold count that had to be exact as far as its asker knew.
type Count struct {
	Asked, Answered int64
	Want, Got       int
}

// Window is when the holder had reason to believe that nobody else was inside. It is empty if to ≤ from.
func (a *Acquisition) Window() (from, to int64) {
	if !a.Held {
		return 0, 0
	}
	from, to = a.Returned, a.Until
	for _, end := range []int64{a.Unlock, a.Lost} {
		if end != 0 {
			to = min(to, end)
		}
	}
	return from, to
}

// Who names the acquisition in a report.
func (a *Acquisition) Who() string {
	mode := a.Mode
	if a.Read {
		mode += " to read"
	}
	return fmt.Sprintf("%v worker %d op %d (%s, %s)", a.Process, a.Worker, a.Op, mode, a.Owner)
}
