package javapeer

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"
)

// Hammer is a load of threads that want one lock all the time and send nothing
// but what the lock sends. Some 500,000 turns fit into one load's answer.
type Hammer struct {
	Name    string // of the lock
	Kind    Kind   // of the lock
	Workers int    // threads
	// Hold is spent inside the lock, Think outside, both in whole microseconds.
	// The timer's delay, some 50 µs, comes on top.
	Hold, Think time.Duration
	// For is how long new turns begin, in whole milliseconds.
	For time.Duration
	// StartAt is on [machineclock.Now]'s clock; 0 is at once.
	StartAt int64
}

// Turn is one acquisition, in nanoseconds of [machineclock.Now]'s clock. The lock was
// held from Granted to Releasing at least, so the turns of all who used a lock,
// in whatever process, may not overlap there.
type Turn struct {
	Asked     int64 // before the call of lock
	Granted   int64 // after it
	Releasing int64 // before the call of unlock
}

// Hammer runs a load and returns its turns when the last worker is done, in no
// particular order. Turns granted after the end are among them, given back at
// once. A worker's exception ends the load and is returned as a [*JavaError].
func (p *Peer) Hammer(ctx context.Context, h Hammer) ([]Turn, error) {
	r, err := p.calls.do(ctx, h.Kind.command("hammer"), h.Name, strconv.Itoa(h.Workers),
		strconv.FormatInt(h.Hold.Microseconds(), 10),
		strconv.FormatInt(h.Think.Microseconds(), 10),
		milliseconds(h.For), strconv.FormatInt(h.StartAt, 10))
	if err != nil {
		return nil, err
	}
	return parseTurns(r)
}

func parseTurns(r Reply) ([]Turn, error) {
	const size = 3 * 8
	if len(r.Values) != 1 {
		return nil, fmt.Errorf("javapeer: hammer answered %q", r.Values)
	}
	b, err := base64.RawURLEncoding.DecodeString(r.Values[0])
	if err == nil && len(b)%size != 0 {
		err = fmt.Errorf("%d bytes", len(b))
	}
	if err != nil {
		return nil, fmt.Errorf("javapeer: hammer's answer: %w", err)
	}
	turns := make([]Turn, 0, len(b)/size)
	instant := func(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }
	for ; len(b) > 0; b = b[size:] {
		turns = append(turns, Turn{instant(b), instant(b[8:]), instant(b[16:])})
	}
	return turns, nil
}
