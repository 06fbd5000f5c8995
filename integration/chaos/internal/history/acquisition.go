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

// Process is one run of a process. A restart has the next Life.
type Process struct {
	Side Side
	Row  int // its number on its side, the same after a restart
	Life int
}

// String returns the process's name in violations.
func (p Process) String() string { return fmt.Sprintf("%s%d/%d", p.Side, p.Row, p.Life) }

// Acquisition is one acquire and its outcome. Times are machineclock.Now's; 0 means never.
type Acquisition struct {
	Process Process
	Op      int64
	Worker  int
	Lock    int
	Owner   string // empty if the call named none and was not granted
	Outer   int64
	Asked   bool // the call named its owner, which may hold already
	Mode    string
	Lease   int64

	Called, Returned int64
	Held             bool
	Refusal          string
	Until            int64 // end of trust as last read
	Lost             int64
	Unlock, Unlocked int64
	Outcome          string
	Died             int64  // when its process ended before it
	Moved            bool   // an extension or a re-entry changed its lease
	Left             bool   // after its unlock its owner may hold more
	Said             []Said // every Until that it reported

	Read    bool   // of the read lock of a pair
	Permits int    // of a semaphore; else 0
	Token   *int64 // nil: not asked for
	Place   string // its owner's name in a queue on the server
}

// Said is a hold's report, at At, that it is valid until Until.
type Said struct{ At, Until int64 }

// Trusted returns the shortest Until that the hold reported in force between from and to; 0 if it had reported none by from.
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

// Window returns the time in which the holder had reason to believe that nobody else was inside. It is empty if to ≤ from.
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

// Every as a Void's Lock means all locks.
const Every = -1

// Void is a fault by which the server lost keys between From and To, and with them what it had promised.
type Void struct {
	From, To int64
	Lock     int // or Every
	Why      string
	// Spares, if not nil, reports whether an owner keeps what it was granted by a call that returned at that time.
	Spares func(owner string, returned int64) bool `json:"-"`
}

// open is To of a void that is not over yet.
const open = math.MaxInt64

func (v Void) hits(lock int) bool { return v.Lock == Every || v.Lock == lock }

// Hits reports whether the acquisition was held, or its call was open, during the fault, and is not spared.
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
