package javamatrix

import (
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/redisson/interop"
	"github.com/rlock-go/redisson/integration/redisson/wire"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
)

// pair is a Redisson release on a server, and what was seen of it.
type pair struct {
	Redisson, Server string
	Topology         wire.Topology `json:",omitempty"` // of several servers; empty: one
	Kind             string        `json:",omitempty"` // of lock; empty: plain
	// Ended is what was being played when the pair had to be given up, empty if it was played to its end.
	Ended string `json:",omitempty"`

	// Of the scenarios of the wire proof.
	Equal       int
	Justified   int
	Different   []different    `json:",omitempty"`
	Unplayed    []string       `json:",omitempty"` // that ended without a comparison
	Differences map[string]int `json:",omitempty"` // in how many scenarios there is which justified difference
	Unused      []string       `json:",omitempty"` // justified differences that were not there

	// Of the behaviours.
	Passed      int
	Failed      []string      `json:",omitempty"`
	GoWakesJava time.Duration // p50
	JavaWakesGo time.Duration
}

// different is a scenario in which something differs that may not.
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

// play plays a pair on a server. A difference does not fail t; what can't be played and a behaviour that is not there do.
// When it had to be given up, which ends t, the pair says so.
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
				// An outcome that the scenario did not want.
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

// giveUp ends a pair in which so much failed that the rest would only wait for what does not come.
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
		// What did not come to its end measured nothing.
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

// servers are those of the behaviours.
func (p *pair) servers(t *testing.T) redisserver.Server {
	switch p.Topology {
	case wire.Sentinel:
		return redisserver.Given(t, redistest.StartSentinels(t, redistest.SentinelPasswords{}).URL())
	case wire.Cluster:
		return redisserver.Given(t, topologytest.StartReplicated(t, 1, 1, 1).ClusterURL())
	}
	return redisserver.Local(t)
}
