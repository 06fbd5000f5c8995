package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// grace is how much longer than requested a load may take before it counts as hanging.
const grace = 15 * time.Second

var (
	errHang   = errors.New("hangs")
	errNoPair = errors.New("not one pair in time")
)

// spec is a load: callers that lock and unlock in a loop.
type spec struct {
	prefix  string
	callers int
	shared  bool // all callers want the lock named prefix; else each has its own
	length  time.Duration
}

// prefixFor returns the prefix of a party's lock names in a part. It has the same length for each party, since a server
// reads names byte by byte, and a cluster's server hashes them for each command of a script.
func prefixFor(part, party string) string {
	h := fnv.New32a()
	h.Write([]byte(party))
	return fmt.Sprintf("%s:%08x:", part, h.Sum32())
}

// name is the name of a caller's lock.
func (s spec) name(caller int) string {
	if s.shared {
		return s.prefix
	}
	return fmt.Sprint(s.prefix, caller)
}

// loaded is the result of a load.
type loaded struct {
	pairs  int64 // granted in time
	grants int64 // including those before the start and after the end

	// How often in time a shared lock went to another caller than before. If its last holder takes the lock again at
	// once, there are many pairs and no hand-off.
	handoffs int64

	took time.Duration
}

func (l loaded) micros() float64 { return l.took.Seconds() * 1e6 / float64(l.pairs) }
func (l loaded) rate() float64   { return float64(l.pairs) / l.took.Seconds() }

// loader runs loads.
type loader func(spec) (loaded, error)

// together runs loads at the same time, each with its loader.
func together(loaders []loader, specs []spec) (sum loaded, err error) {
	var all sync.WaitGroup
	var mu sync.Mutex // guards sum and err
	for i, load := range loaders {
		all.Go(func() {
			l, failed := load(specs[i])
			if len(loaders) > 1 && errors.Is(failed, errNoPair) {
				failed = nil // readers may keep the writers out
			}
			mu.Lock()
			defer mu.Unlock()
			sum.pairs, sum.grants, sum.handoffs = sum.pairs+l.pairs, sum.grants+l.grants, sum.handoffs+l.handoffs
			sum.took, err = max(sum.took, l.took), errors.Join(err, failed)
		})
	}
	all.Wait()
	return sum, err
}

// fleet spreads callers over one or more clients of a Go peer.
type fleet []client

func openFleet(p *peer, addr string, size int) (fleet, error) {
	var f fleet
	for range size {
		c, err := p.open(addr)
		if err != nil {
			f.close()
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		f = append(f, c)
	}
	return f, nil
}

func (f fleet) close() {
	for _, c := range f {
		c.close()
	}
}

func (f fleet) load(s spec) (loaded, error) {
	handles := make([]handle, s.callers)
	for i := range handles {
		handles[i] = f[i%len(f)].handle(s.name(i))
	}
	runtime.GC()

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var n, late atomic.Int64
	var mu sync.Mutex // guards failure
	var failure error
	fail := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if failure == nil {
			failure = err
		}
		cancel()
	}
	// Atomic, because only the lock under test, in Redis, makes the holders exclusive.
	var holder, handoffs atomic.Int64
	var start, deadline time.Time // set before begin is closed
	begin := make(chan struct{})
	last := make([]time.Duration, s.callers)
	var wg, ready sync.WaitGroup
	ready.Add(s.callers)
	for i, h := range handles {
		wg.Go(func() {
			// A goroutine's first pair grows its stack and meets an idle client, which is not part of the pace.
			if err := s.first(ctx, h); err != nil {
				fail(err)
			}
			ready.Done()
			<-begin
			var done int64
			defer func() { n.Add(done) }()
			for time.Now().Before(deadline) {
				if err := h.lock(ctx); err != nil {
					if ctx.Err() == nil {
						fail(fmt.Errorf("lock: %w", err))
					}
					return
				}
				inTime := time.Now().Before(deadline)
				if s.shared && inTime && holder.Swap(int64(i)+1) != int64(i)+1 {
					handoffs.Add(1)
				}
				if err := h.unlock(context.Background()); err != nil && inTime {
					fail(fmt.Errorf("unlock: %w", err))
					return
				}
				if !inTime {
					late.Add(1)
					return
				}
				done++
				last[i] = time.Since(start)
			}
		})
	}
	if !within(grace, ready.Wait) {
		return loaded{}, errHang
	}
	start = time.Now()
	deadline = start.Add(s.length)
	close(begin)
	if s.shared {
		// Callers that still wait must not take the lock one after the other.
		stop := time.AfterFunc(s.length, cancel)
		defer stop.Stop()
	}
	if !within(s.length+grace, wg.Wait) {
		return loaded{}, errHang
	}
	mu.Lock()
	defer mu.Unlock()
	if failure != nil {
		return loaded{}, failure
	}
	r := loaded{pairs: n.Load(), grants: n.Load() + late.Load(), handoffs: handoffs.Load()}
	if !s.shared {
		r.grants += int64(s.callers)
	}
	for _, d := range last {
		r.took = max(r.took, d)
	}
	if r.pairs == 0 {
		return loaded{}, errNoPair
	}
	return r, nil
}

// first is a caller's first pair, if it has its own lock.
func (s spec) first(ctx context.Context, h handle) error {
	if s.shared {
		return nil
	}
	if err := h.lock(ctx); err != nil {
		return fmt.Errorf("first lock: %w", err)
	}
	return h.unlock(ctx)
}

// within reports whether f returned in time. If not, f's goroutine is left behind.
func within(d time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
