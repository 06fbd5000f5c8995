package javapeer

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Work is a load: threads that take one lock over and over and count, while they
// hold it, in a Redis key with plain GET and SET of decimal text. Anybody else
// who counts there under the same lock may take part; if two were in at once, the
// key ends below the sum of the totals.
type Work struct {
	Name    string // of the lock
	Kind    Kind   // of the lock
	Counter string // the key that is counted in
	Workers int    // threads
	// Hold is spent inside the lock between the GET and the SET, Think outside,
	// both in whole microseconds. The timer's delay, some 50 µs, comes on top.
	Hold, Think time.Duration
	// For is how long new rounds begin, in whole milliseconds.
	For time.Duration
	// StartAt is on [machineclock.Now]'s clock; 0 is at once.
	StartAt int64
	// Lease is that of each acquisition. Zero is [Watchdog].
	Lease time.Duration
}

// WorkResult is what a load came to.
type WorkResult struct {
	// Total is how often the counter was incremented, PerWorker by whom.
	Total     int64
	PerWorker []int64
	// Late is how many grants came after the end: given back and not counted.
	Late int64
	// Waits are from the call of lock to its return, late grants included.
	WaitP50, WaitP99, WaitMax time.Duration
	// Started and Ended are on [machineclock.Now]'s clock.
	Started, Ended int64
}

// Work runs a load and returns when its last worker is done. A worker's exception
// ends the load and is returned as a [*JavaError].
func (p *Peer) Work(ctx context.Context, w Work) (WorkResult, error) {
	if w.Lease == 0 {
		w.Lease = Watchdog
	}
	lease, err := millis(w.Lease)
	if err != nil {
		return WorkResult{}, fmt.Errorf("javapeer: work: %w", err)
	}
	r, err := p.calls.do(ctx, w.Kind.command("work"), w.Name, strconv.Itoa(w.Workers),
		strconv.FormatInt(w.Hold.Microseconds(), 10),
		strconv.FormatInt(w.Think.Microseconds(), 10),
		milliseconds(w.For), w.Counter, strconv.FormatInt(w.StartAt, 10), lease)
	if err != nil {
		return WorkResult{}, err
	}
	return parseWork(r)
}

// Warm has threads run rounds of the same loop without hold and think, so that
// Java has compiled it before it is measured. It uses the lock name and a counter
// beside it, which it deletes.
func (p *Peer) Warm(ctx context.Context, name string, workers, rounds int) error {
	_, err := p.calls.do(ctx, "warm", name, strconv.Itoa(rounds), strconv.Itoa(workers))
	return err
}

func parseWork(r Reply) (WorkResult, error) {
	const fixed = 7
	numbers, err := integers(r.Values)
	if err != nil {
		return WorkResult{}, fmt.Errorf("javapeer: work answered %q: %w", r.Values, err)
	}
	if len(numbers) < fixed {
		return WorkResult{}, fmt.Errorf("javapeer: work answered %q", r.Values)
	}
	micros := func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
	return WorkResult{
		Total:     numbers[0],
		Late:      numbers[1],
		WaitP50:   micros(numbers[2]),
		WaitP99:   micros(numbers[3]),
		WaitMax:   micros(numbers[4]),
		Started:   numbers[5],
		Ended:     numbers[6],
		PerWorker: numbers[fixed:],
	}, nil
}
