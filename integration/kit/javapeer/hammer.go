package javapeer

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"
)

// Hammer is a load of threads that compete for one lock.
type Hammer struct {
	Name    string // of the lock
	Kind    Kind   // of the lock
	Workers int    // threads
	// Hold is the time inside the lock, Think the time outside, in whole microseconds. The timer adds some 50 µs.
	Hold, Think time.Duration
	For         time.Duration // how long workers begin new turns, in whole milliseconds
	StartAt     int64         // on [machineclock.Now]'s clock; 0 means at once
}

// Turn is one acquisition, in nanoseconds of [machineclock.Now]'s clock. The lock was held at least from Granted to
// Releasing, so these intervals of all users of a lock, in any process, must not overlap.
type Turn struct {
	Asked     int64 // before the call of lock
	Granted   int64 // after it
	Releasing int64 // before the call of unlock
}

// Hammer runs a load that sends only the lock's own commands. It returns the turns when the last worker is done, in no
// particular order. Turns granted after the end are included; they were released at once. One reply holds some 500,000
// turns. A worker's exception ends the load and is returned as a [*JavaError].
func (p *Peer) Hammer(ctx context.Context, h Hammer) ([]Turn, error) {
	r, err := p.hammer(ctx, "hammer", h)
	if err != nil {
		return nil, err
	}
	return parseTurns(r)
}

func (p *Peer) hammer(ctx context.Context, command string, h Hammer, more ...string) (Reply, error) {
	micros := func(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
	return p.calls.do(ctx, h.Kind.command(command), append([]string{h.Name, strconv.Itoa(h.Workers), micros(h.Hold), micros(h.Think),
		milliseconds(h.For), strconv.FormatInt(h.StartAt, 10)}, more...)...)
}

// WorkResult is the result of Work.
type WorkResult struct {
	Total   int64 // how often the counter was incremented
	Late    int64 // grants after the end: released at once and not counted
	Started int64 // on [machineclock.Now]'s clock
}

// Work runs a load whose workers, while they hold the lock, increment a Redis key with plain GET and SET of decimal
// text, with Hold between the two. Other processes may increment the key under the same lock. If two workers were ever
// inside at once, the key ends below the sum of the totals. Work returns as Hammer does.
func (p *Peer) Work(ctx context.Context, h Hammer, counter string) (WorkResult, error) {
	r, err := p.hammer(ctx, "work", h, counter)
	if err != nil {
		return WorkResult{}, err
	}
	n, err := r.integers("work", 3)
	if err != nil {
		return WorkResult{}, err
	}
	return WorkResult{n[0], n[1], n[2]}, nil
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
