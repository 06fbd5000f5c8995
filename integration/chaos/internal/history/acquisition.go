package history

import (
	"fmt"
	"math"
)

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
	Died             int64  // the process was killed meanwhile
	Moved            bool   // its lease is not the one it began with
	Left             bool   // after its unlock its owner may hold more
	Said             []Said // what it said of its trust

	Read    bool   // of the read lock of two
	Permits int    // of a semaphore; else 0
	Token   *int64 // nil: not asked for
	Place   string // its owner as a queue on the server has it
}

// Said is until when a hold said, at an instant, that it may be relied on.
type Said struct{ At, Until int64 }

// Trusted is until when the hold could be relied on throughout a stretch, by its own words; 0: it had said nothing.
func (a *Acquisition) Trusted(from, to int64) (until int64) {
	for _, s := range a.Said {
		switch {
		case s.At <= from:
			until = s.Until
		case s.At <= to:
			until = min(until, s.Until)
		}
	}
	return until
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

// Every is a Void's lock that stands for all locks.
const Every = -1

// Void is a fault that takes away what the server promised: between From and To the keys were deleted.
type Void struct {
	From, To int64
	Lock     int // or Every
	Why      string
	// Spares, if it is not nil, tells which owners kept all that they were promised, granted at an instant.
	Spares func(owner string, returned int64) bool `json:"-"`
}

// open is To of a void that is not over yet.
const open = math.MaxInt64

func (v Void) hits(lock int) bool { return v.Lock == Every || v.Lock == lock }

// Hits tells whether the acquisition was held, or on its way, at that moment.
func (v Void) Hits(a *Acquisition) bool {
	if !a.Held || !v.hits(a.Lock) {
		return false
	}
	if a.Returned > v.From {
		return a.Called < v.To && !v.spares(a)
	}
	_, to := a.Window()
	return to > v.From && !v.spares(a)
}

func (v Void) spares(a *Acquisition) bool { return v.Spares != nil && v.Spares(a.Owner, a.Returned) }
