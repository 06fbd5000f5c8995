package main

import (
	"context"
	"slices"
	"time"
)

// lease is what every peer requests; those with their own watchdog keep their default.
const lease = 30 * time.Second

// poolSize is how many connections the peers with a pool may have. More would make none of them quicker here.
const poolSize = 128

// handle is one caller's access to one lock. One goroutine at a time uses it.
type handle struct {
	lock   func(ctx context.Context) error // waits
	unlock func(ctx context.Context) error
}

// holding is a handle for a library whose lock returns an object to release.
func holding[Hold any](lock func(context.Context) (Hold, error), release func(Hold, context.Context) error) handle {
	var h Hold
	return handle{
		lock: func(ctx context.Context) (err error) {
			h, err = lock(ctx)
			return err
		},
		unlock: func(ctx context.Context) error { return release(h, ctx) },
	}
}

// client is one party's client, as one process would have it.
type client struct {
	handle func(name string) handle
	close  func()
}

// peer is one library. Its note is printed with the numbers.
type peer struct {
	name  string
	note  string
	open  func(addr string) (client, error) // nil if it is not built in
	waits bool                              // it can wait for a lock
	extra []string
}

// Names of the parties in the output.
const (
	ours        = "rlock"
	beforeP     = "rlock before"
	prometheusP = "rlock with Prometheus"
	otelP       = "rlock with OpenTelemetry"
	rawPeer     = "raw redigo"
	redsyncP    = "redsync"
	bsmP        = "redislock"
	rueidisP    = "rueidislock"
	javaP       = "Redisson (Java)"
	limitName   = "server limit"
	loneName    = "one thread" // the reference for one caller
	baseline    = "one-thread baseline"
)

// shown is a party's name on the pages and drawings of a part. Only commands that are sent ahead show the server's
// limit: a thread that waits for each reply may be slower than a peer.
func shown(part, name string) string {
	if name == loneName || name == limitName && part == "handoff" {
		return baseline
	}
	return name
}

// isPeer reports whether name is a party of the comparison, and not a reference.
func isPeer(name string) bool { return name != limitName && name != loneName }

// openers are of the peers of others, which build tags select. Each one's file adds its own before main runs.
var openers = map[string]func(addr string) (client, error){}

// goPeers returns the peers that run in a Go process, including those that are not built in.
func goPeers() []*peer {
	all := []*peer{
		{name: ours, open: openOurs, waits: true, note: "defaults",
			extra: []string{"del"}},
		{name: rawPeer, open: openRaw, note: "a redigo pool of 128, the same commands as rlock, each a round trip; can't wait, so it is in no contended part",
			extra: []string{"del"}},
		{name: redsyncP, open: openers[redsyncP], waits: true, note: "v4.18.1 over a redigo pool of 128; SET NX and a script with GET and DEL; polls each 50–250 ms, its default",
			extra: []string{"set"}},
		{name: bsmP, open: openers[bsmP], waits: true, note: "bsm/redislock v0.9.4 over go-redis v9.23.0, pool of 128; two scripts; polls each 10 ms (its default is not to wait at all)"},
		{name: rueidisP, open: openers[rueidisP], waits: true, note: "rueidis v1.0.79, KeyMajority 1, NoLoopTracking, TryNextAfter 3 s; plain string keys, woken by client-side caching"},
	}
	if open := openers[beforeP]; open != nil {
		all = append(all, &peer{name: beforeP, open: open, waits: true, note: "the library at the commit that -before names", extra: []string{"del"}})
	}
	for _, name := range []string{prometheusP, otelP} {
		if open := openers[name]; open != nil {
			all = append(all, &peer{name: name, open: open, waits: true, note: "defaults, with metrics", extra: []string{"del"}})
		}
	}
	return all
}

// builtIn are those of goPeers that can be run.
func builtIn() []*peer {
	return slices.DeleteFunc(goPeers(), func(p *peer) bool { return p.open == nil })
}

func findPeer(name string) *peer {
	for _, p := range builtIn() {
		if p.name == name {
			return p
		}
	}
	return nil
}

// requests returns how many commands clients sent, by the server's counters. These include the scripts' own calls, so
// only commands that scripts don't use are added up. If a peer sends such a command itself, its scripts' calls are
// subtracted: one DEL in each final unlock.
func (p *peer) requests(d commands, grants int64) float64 {
	n := d["evalsha"] + d["eval"] + d["subscribe"] + d["unsubscribe"] + d["script|load"]
	for _, kind := range p.extra {
		n += d[kind]
		if kind == "del" {
			n -= grants
		}
	}
	return float64(n)
}

// attempts returns how many of these commands tried to acquire.
func (p *peer) attempts(d commands, grants int64) float64 {
	if p.name == redsyncP {
		return float64(d["set"])
	}
	return float64(d["evalsha"] + d["eval"] - grants)
}
