package javapeer

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Pairs is a load of threads that lock and unlock in a loop, with no work inside the lock.
type Pairs struct {
	// Prefix and the worker's number, from 0, make its lock's name. If Shared is set, all use the lock Prefix.
	Prefix  string
	Kind    Kind // of the locks
	Workers int  // threads
	Shared  bool
	// For is how long workers begin new pairs, in whole milliseconds.
	For time.Duration
}

// PairsResult is the result of a load.
type PairsResult struct {
	// Total counts the pairs granted in time. Late counts later grants, which were released at once.
	Total, Late int64
	// Handoffs counts the grants in time of a shared lock to another worker than before, the first grant included. It
	// is 0 if the lock was not shared.
	Handoffs int64
	// Took is the time from the first pair to the release of the last pair in Total.
	Took time.Duration
}

// Pairs runs a load and returns when its last worker is done. If many wait for one lock, that may be a while after the
// end. A worker's exception ends the load and is returned as a [*JavaError].
func (p *Peer) Pairs(ctx context.Context, l Pairs) (PairsResult, error) {
	ms, err := millis(l.For)
	if err != nil {
		return PairsResult{}, fmt.Errorf("javapeer: pairs: %w", err)
	}
	r, err := p.calls.do(ctx, l.Kind.command("pairs"), l.Prefix, strconv.Itoa(l.Workers), ms, strconv.FormatBool(l.Shared))
	if err != nil {
		return PairsResult{}, err
	}
	n, err := r.integers("pairs", 5)
	if err != nil {
		return PairsResult{}, err
	}
	return PairsResult{Total: n[0], Late: n[1], Handoffs: n[2], Took: time.Duration(n[4] - n[3])}, nil
}

// integers parses a load's reply, which must have count numbers.
func (r Reply) integers(load string, count int) ([]int64, error) {
	if len(r.Values) != count {
		return nil, fmt.Errorf("javapeer: %s answered %q", load, r.Values)
	}
	numbers := make([]int64, count)
	for i, v := range r.Values {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("javapeer: %s answered %q: %w", load, r.Values, err)
		}
		numbers[i] = n
	}
	return numbers, nil
}
