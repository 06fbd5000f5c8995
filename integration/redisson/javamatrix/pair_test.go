package javamatrix

import (
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/redisson/interop"
	"github.com/rlock-go/redisson/integration/redisson/wire"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

// pair is a Redisson release on a server, with its results.
type pair struct {
	Redisson, Server string
	Topology         wire.Topology `json:",omitempty"` // of several servers; empty: one
	Kind             string        `json:",omitempty"` // of lock; empty: plain
	// Ended is what was being played when the pair had to be given up, empty if it was played to its end.
	Ended string `json:",omitempty"`

	// Results of the wire proof's scenarios.
	Equal       int
	Justified   int
	Different   []different    `json:",omitempty"`
	Unplayed    []string       `json:",omitempty"` // that failed or ended without a comparison
	Differences map[string]int `json:",omitempty"` // in how many scenarios each justified difference occurred
	Unused      []string       `json:",omitempty"` // justified differences that did not occur

	// Results of the behaviours.
	Passed      int
	Failed      []string      `json:",omitempty"`
	GoWakesJava time.Duration // p50
	JavaWakesGo time.Duration
}

// different is a scenario with a difference that is not justified.
type different struct{ Scenario, What string }

func (p *pair) red() bool {
	return p.Ended != "" || len(p.Different)+len(p.Unplayed)+len(p.Unused)+len(p.Failed) > 0
}

// part is what is played of a pair.
type part struct {
	topology   wire.Topology // of several servers; empty: one
	scenarios  []string
	behaviours []interop.Behaviour
	altered    []wire.Altered
}

// play plays a pair on a server. A difference does not fail t; a scenario that can't be played and a behaviour that fails
// do. If the pair is given up, Ended says where.
func play(t *testing.T, version string, s server, what part) *pair {
	s.use(t)
	p := &pair{Redisson: version, Server: s.Name, Topology: what.topology, Differences: map[string]int{}}
	t.Run("pair", func(t *testing.T) {
		p.Ended = "the beginning"
		p.prove(t, what)
		p.show(t, what.behaviours)
		p.Ended = ""
	})
	return p
}

func (p *pair) prove(t *testing.T, what part) {
	var proof *wire.Proof
	if what.topology != "" {
		proof = wire.NewAt(t, p.Redisson, wire.StartPlace(t, what.topology))
	} else {
		proof = wire.New(t, p.Redisson)
	}
	for _, name := range what.scenarios {
		compared := false
		p.Ended = name
		t.Run("wire, "+name, func(t *testing.T) {
			f := proof.Play(t, name, what.altered...)
			compared = true
			for _, d := range f.Justified {
				p.Differences[d.Name]++
			}
			p.Unused = append(p.Unused, f.Unused...)
			switch {
			case f.Difference != "":
				p.Different = append(p.Different, different{name, f.Difference})
			case len(f.Justified) > 0:
				p.Justified++
			default:
				p.Equal++
			}
			if t.Failed() {
				// The scenario wanted another outcome.
				p.Unplayed = append(p.Unplayed, name)
			}
		})
		if !compared {
			p.Unplayed = append(p.Unplayed, name)
		}
		p.giveUp(t)
	}
	if p.Kind != "" || len(what.scenarios) == len(wire.Names(javapeer.Plain)) {
		for _, name := range proof.Unused() {
			if !slices.Contains(p.Unused, name) {
				p.Unused = append(p.Unused, name)
			}
		}
	}
}

// giveUp ends a pair with so many failures that the rest would mostly wait in vain.
func (p *pair) giveUp(t *testing.T) {
	if len(p.Unplayed)+len(p.Failed) >= bearable {
		t.Fatalf("given up after %d failures", bearable)
	}
}

func (p *pair) show(t *testing.T, behaviours []interop.Behaviour) {
	if len(behaviours) == 0 {
		return
	}
	p.Ended = "the start of the behaviours"
	w := p.newWorld(t)
	for _, b := range behaviours {
		p.Ended = b.Name
		skipped := false
		shown := t.Run("interop, "+b.Name, func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			w.Show(t, b)
		})
		// A behaviour that ended early measured nothing.
		p.GoWakesJava = max(p.GoWakesJava, w.GoWakesJava.Percentile(50))
		p.JavaWakesGo = max(p.JavaWakesGo, w.JavaWakesGo.Percentile(50))
		if shown {
			if !skipped {
				p.Passed++
			}
			continue
		}
		p.Failed = append(p.Failed, b.Name)
		p.giveUp(t)
		// A lock that was left, or a thread that still waits, must not fail the next.
		w = p.newWorld(t)
	}
	const last = "nothing is left"
	p.Ended = last
	if !t.Run(last, w.CheckNothingIsLeft) {
		p.Failed = append(p.Failed, last)
	}
}

func (p *pair) newWorld(t *testing.T) *interop.World {
	w := interop.NewWorld(t, p.Redisson, p.servers(t))
	w.Limit = limit
	return w
}

// servers starts those for the behaviours.
func (p *pair) servers(t *testing.T) redisserver.Server {
	switch p.Topology {
	case wire.Sentinel:
		return redisserver.Given(t, redistest.StartSentinels(t, redistest.SentinelPasswords{}).URL())
	case wire.Cluster:
		return redisserver.Given(t, topologytest.StartReplicated(t, 1, 1, 1).ClusterURL())
	}
	return redisserver.Local(t)
}
