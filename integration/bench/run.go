package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// run is what all parts share.
type run struct {
	*Report
	server *server
	java   bool
	sizes  sizes
	only   []string        // peers; none: all
	hung   map[string]bool // in the part that runs
}

// sizes make a run long or short.
type sizes struct {
	rounds   int
	length   time.Duration // of one load
	handoffs int           // of each peer, in all rounds; a quarter for one that polls slowly
	holds    []int
	held     int           // rounds of each number of holds
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
	{"neighbour", "another round trip in the process of a lone caller", runNeighbour},
	{"handoff", "from a process that releases to one that waits", runHandoff},
	{"local", "callers of one client at one name", runLocal},
	{"crowd", "many clients at one name", runCrowd},
	{kindsPart, "each kind of lock, all callers at one name", runKinds},
	{"held", "locks that are held and renewed", runHeld},
	{"waiting", "waiters in one client", runWaiting},
	{"cluster", "three masters beside one server", runCluster},
	{toldPart, "from the loss of a lock until its holder is told", runTold},
}

// kindsPart, as toldPart, is a part that runs only when it is named.
const kindsPart = "kinds"

func (r *run) wants(peer string) bool {
	return !r.hung[peer] && (len(r.only) == 0 || slices.Contains(r.only, peer) || peer == ours)
}

// failed notes that a peer is out, and says whether that is all there is to it: ours must not fail.
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

// contender is one party of an interleaved part.
type contender struct {
	name   string
	loader loader
	usage  func() (usage, error)
	peer   *peer // nil for Java
}

// open starts one client, or size of them, of every peer that is wanted, and Java with one.
func (r *run) open(size int, waits bool) (all []*contender, close func(), err error) {
	close = func() {
		for _, c := range all {
			if !r.hung[c.name] {
				c.loader.close()
			}
		}
	}
	for _, p := range builtIn() {
		if !r.wants(p.name) || waits && !p.waits {
			continue
		}
		f, err := openFleet(p, r.server.addr, size)
		if err != nil {
			close()
			return nil, nil, err
		}
		all = append(all, &contender{p.name, f, ownUsage, p})
	}
	if r.java && size == 1 && r.wants(javaP) {
		j, err := openJava(r.server.addr)
		if err != nil {
			close()
			return nil, nil, err
		}
		all = append(all, &contender{javaP, j, func() (usage, error) { return processCPU(j.p.PID) }, nil})
	}
	return all, close, nil
}

// turns are the contenders in the order of round i, without those that are out.
func (r *run) turns(all []*contender, i int) (turn []*contender) {
	for k := range all {
		if c := all[(k+i)%len(all)]; !r.hung[c.name] {
			turn = append(turn, c)
		}
	}
	return turn
}

// expense is what a load cost beyond its time.
type expense struct {
	server, client time.Duration // processor time
	wall           time.Duration // in which they used that
	mallocs, bytes uint64
	commands       commands
}

// cost runs a load and sees what it cost.
func (r *run) cost(c *contender, s spec) (l loaded, e expense, err error) {
	var before, after usage
	var cpu [2]time.Duration
	var calls [2]commands
	var wall time.Duration
	for _, step := range []func() error{
		func() (err error) { calls[0], err = r.server.commands(); return err },
		func() (err error) { cpu[0], err = r.server.cpu(); return err },
		func() (err error) { before, err = c.usage(); return err },
		func() (err error) {
			start := time.Now()
			l, err = c.loader.load(s)
			wall = time.Since(start)
			return err
		},
		func() (err error) { after, err = c.usage(); return err },
		func() (err error) { cpu[1], err = r.server.cpu(); return err },
		func() (err error) { calls[1], err = r.server.commands(); return err },
	} {
		if err := step(); err != nil {
			return l, e, err
		}
	}
	return l, expense{
		server: cpu[1] - cpu[0], client: after.cpu - before.cpu, wall: wall,
		mallocs: after.mallocs - before.mallocs, bytes: after.bytes - before.bytes,
		commands: calls[1].since(calls[0]),
	}, nil
}

func (r *run) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}
