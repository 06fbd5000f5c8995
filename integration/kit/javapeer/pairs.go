package javapeer

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Pairs is a load without anything inside the lock: threads that lock and unlock over and over.
type Pairs struct {
	// Prefix and the worker's number, from 0, make its lock's name; or Prefix alone is that of all if Shared is set.
	Prefix  string
	Kind    Kind // of the locks
	Workers int  // threads
	Shared  bool
	// For is how long new pairs begin, in whole milliseconds.
	For time.Duration
}

// PairsResult is what a load came to.
type PairsResult struct {
	// Total is how many pairs were granted in time. Late grants were given back and do not count.
	Total, Late int64
	// Handoffs is how often in time a shared lock came to another worker than
	// before; the first grant is one. 0 if it was not shared.
	Handoffs int64
	// Took is from the first to the release of the last pair that counts.
	Took time.Duration
}

// Pairs runs a load and returns when its last worker is done, which may be a while after the end where many wait for one
// lock. A worker's exception ends the load and is returned as a [*JavaError].
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

// integers are a load's answer, of so many numbers.
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
