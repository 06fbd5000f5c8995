package main

import (
	"context"
	"slices"
	"time"
)

// lease is what every peer asks for; those with a watchdog of their own keep their default.
const lease = 30 * time.Second

// poolSize is how many connections those that pool may have. More make none of them quicker on this kind of work.
const poolSize = 128

// handle is one caller's way to one lock. It is used by one goroutine at a time.
type handle struct {
	lock   func(ctx context.Context) error // waits
	unlock func(ctx context.Context) error
}

// holding is a handle of a library whose lock gives something that is released.
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

// client is one party, as one process would have it.
type client struct {
	handle func(name string) handle
	close  func()
}

// peer is one library. Its notes are printed beside the numbers.
type peer struct {
	name  string
	note  string
	open  func(addr string) (client, error) // nil: it was not built in
	waits bool                              // it has a way to wait for a lock
	extra []string
}

// Names of the parties, as they are printed.
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
	loneName    = "one thread" // what one caller is held against
	baseline    = "one-thread baseline"
)

// shown is the name that pages and drawings of a part have. Only commands that are sent ahead show what the server can do: a
// thread that takes turns with it may be behind others.
func shown(part, name string) string {
	if name == loneName || name == limitName && part == "handoff" {
		return baseline
	}
	return name
}

// isPeer tells whether it is a party of its own, and not what others are held against.
func isPeer(name string) bool { return name != limitName && name != loneName }

// openers are of the peers of others, which are built in by their tags: each one's file puts its own in, before main.
var openers = map[string]func(addr string) (client, error){}

// goPeers are those that run in a Go process, with those that are not built in.
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

// requests is how many commands arrived from outside, as the server's counters tell it. They count the calls that
// scripts make too, so only kinds that scripts don't use are added up, and where a peer sends such a kind itself what
// its scripts did is taken off: one DEL in each final unlock.
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

// attempts is how many of them tried to acquire.
func (p *peer) attempts(d commands, grants int64) float64 {
	if p.name == redsyncP {
		return float64(d["set"])
	}
	return float64(d["evalsha"] + d["eval"] - grants)
}
