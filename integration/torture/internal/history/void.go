package history

import "math"

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

// Undoes tells whether what was done before may be undone, for all but those whom it spares: it is a failover.
func (v Void) Undoes() bool { return v.Spares != nil }

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
