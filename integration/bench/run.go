package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// run is the state that all parts share.
type run struct {
	*Report
	server *server
	java   bool
	sizes  sizes
	only   []string        // peers to run; nil means all
	hung   map[string]bool // failed peers of the current part
}

// sizes set how long a run takes.
type sizes struct {
	rounds   int
	length   time.Duration // of one load
	handoffs int           // of each peer, in all rounds; a quarter for a peer that polls slowly
	holds    []int
	held     int           // rounds for each number of holds
	quiet    time.Duration // how long the server is watched before anything is held
	holdTick time.Duration // how long renewals are watched
	waiters  int
	crowd    int
}

var (
	fullSizes  = sizes{rounds: 7, length: 800 * time.Millisecond, handoffs: 1050, holds: []int{10_000, 100_000}, held: 5, quiet: 10 * time.Second, holdTick: 10 * time.Second, waiters: 100_000, crowd: 16}
	quickSizes = sizes{rounds: 1, length: 150 * time.Millisecond, handoffs: 20, holds: []int{2_000}, held: 1, quiet: time.Second, holdTick: 10 * time.Second, waiters: 5_000, crowd: 4}
)

// part is one group of measurements.
type part struct {
	name string
	does string
	run  func(*run) error
}

var parts = []part{
	{"pairs", "uncontended lock and unlock", runPairs},
	{networkPart, "the same through a network of 0.5 ms", runNetwork},
	{"neighbour", "another round trip in the process of a lone caller", runNeighbour},
	{"handoff", "from a process that releases to one that waits", runHandoff},
	{"local", "callers of one client at one name", runLocal},
	{"crowd", "many clients at one name", runCrowd},
	{kindsPart, "each kind of lock, all callers at one name", runKinds},
	{"held", "locks that are held and renewed", runHeld},
	{"waiting", "waiters in one client", runWaiting},
	{"cluster", "three masters beside one server", runCluster},
}

// kindsPart is a part that runs only when it is named.
const kindsPart = "kinds"

func (r *run) wants(peer string) bool {
	return !r.hung[peer] && (len(r.only) == 0 || slices.Contains(r.only, peer) || peer == ours)
}

// failed leaves a peer out of the rest of the part. It returns an error only for rlock, which must not fail.
func (r *run) failed(peer, what string, err error) error {
	r.hung[peer] = true
	if errors.Is(err, errHang) {
		r.trouble("%s hung: %s; it is left out of the rest of that part", peer, what)
	} else {
		r.trouble("%s failed: %s: %v; it is left out of the rest of that part", peer, what, err)
	}
	if peer == ours {
		return fmt.Errorf("%s: %s: %w", peer, what, err)
	}
	return nil
}

// contender is one participant of an interleaved part.
type contender struct {
	name  string
	load  loader
	close func() // nil: there is nothing to close
	usage func() (usage, error)
	peer  *peer // nil for Java
}

func (c *contender) called() string { return c.name }

// open starts every wanted peer, with as many clients as size says, and Java if size is 1.
func (r *run) open(size int, waits bool) (all []*contender, close func(), err error) {
	return r.openAt(r.server.addr, size, waits)
}

func (r *run) openAt(addr string, size int, waits bool) (all []*contender, close func(), err error) {
	defer caught(&err)
	close = func() {
		for _, c := range all {
			if !r.hung[c.name] {
				c.close()
			}
		}
	}
	for _, p := range builtIn() {
		if r.wants(p.name) && (p.waits || !waits) {
			f := must(openFleet(p, addr, size))
			all = append(all, &contender{p.name, f.load, f.close, ownUsage, p})
		}
	}
	if r.java && size == 1 && r.wants(javaP) {
		all = append(all, must(openJava(addr)))
	}
	return all, close, nil
}

// round measures each participant, in another order in each round. One that fails is left out of the part, see failed.
func round[T interface{ called() string }](r *run, i int, all []T, what string, measure func(T) error) error {
	for k := range all {
		one := all[(k+i)%len(all)]
		if r.hung[one.called()] {
			continue
		}
		if err := measure(one); err != nil {
			if err := r.failed(one.called(), what, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// warm runs a load before the first round that counts.
func (c *contender) warm(i int, s spec, length time.Duration) (err error) {
	if s.length = length; i == 0 {
		_, err = c.load(s)
	}
	return err
}

// expense is the cost of a load beyond its time.
type expense struct {
	server, client time.Duration // processor time
	wall           time.Duration // the time in which they used it
	mallocs, bytes uint64
	commands       commands
}

// cost runs a load and measures its cost.
func (r *run) cost(c *contender, s spec) (l loaded, e expense, err error) {
	defer caught(&err)
	calls, cpu, before := must(r.server.commands()), must(r.server.cpu()), must(c.usage())
	start := time.Now()
	l = must(c.load(s))
	e.wall = time.Since(start)
	after := must(c.usage())
	e.server, e.commands = must(r.server.cpu())-cpu, must(r.server.commands()).Since(calls)
	e.client, e.mallocs, e.bytes = after.cpu-before.cpu, after.mallocs-before.mallocs, after.bytes-before.bytes
	return l, e, nil
}

func (r *run) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}
