package javamatrix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/redisson/interop"
	"github.com/rlock-go/redisson/integration/redisson/wire"
)

// severalReleases are those played on several servers: the newest recorded, and the newest that does not publish to shards.
var severalReleases = []string{javapeer.Newest, "3.21.3"}

// severalTopologies are the topologies of the matrix.
var severalTopologies = []wire.Topology{wire.Sentinel, wire.Cluster}

// onSeveral is the part that is played on a topology: without what takes seconds or does not depend on the topology.
func onSeveral(topology wire.Topology) part {
	p := part{topology: topology, scenarios: wire.PlaceNames()}
	slow := []string{"Killed", "LeaseEnds"}
	for _, b := range interop.Behaviours {
		if b.Brief && !slices.ContainsFunc(slow, func(s string) bool { return strings.Contains(b.Name, s) }) {
			p.behaviours = append(p.behaviours, b)
		}
	}
	return p
}

// playSeveral plays some releases on each server, in each topology.
func (r *run) playSeveral(t *testing.T) {
	began := time.Now()
	s := &section{Date: began.UTC().Format(time.DateOnly), Machine: describeMachine()}
	r.Several = s
	releases := slices.DeleteFunc(slices.Clone(severalReleases), func(version string) bool {
		return *versions != "" && !slices.Contains(strings.Split(*versions, ","), version)
	})
	if s.Servers = r.Servers; s.Servers == nil {
		s.Servers = fetchServers(t, chooseServers())
	}
	for _, topology := range severalTopologies {
		if chosen(topology) {
			s.Pairs = append(s.Pairs, playEach(t, r, releases, s.Servers, onSeveral(topology))...)
		}
	}
	s.Took = time.Since(began).Round(time.Second)
	s.Machine.LoadAtTheEnd = load()
}

// verdictOf is how a release did in a topology, on all servers together.
func (r *run) verdictOf(version string, topology wire.Topology) string {
	verdict := "–"
	for _, p := range r.Several.Pairs {
		if p.Redisson != version || p.Topology != topology {
			continue
		}
		if verdict = p.verdict(); p.red() {
			break
		}
	}
	return verdict
}

const severalHead = `## Sentinel and cluster

Behind Sentinels there is a master with two replicas, in a cluster there are three masters with a replica each. Two releases
are played there: the newest, and the newest of those that know no messages to one shard. A part of the scenarios and behaviours is: what takes
seconds, and odd names, are one server's affair. This makes these rows anew, and leaves the rest as it is:

    make test-matrix FLAGS='-topologies sentinel,cluster -write'
`

// severalDetails writes a row for each pair, and the differences that are justified there.
func (r *run) severalDetails(b *strings.Builder) {
	s := r.Several
	if s == nil {
		return
	}
	b.WriteString("\n" + severalHead + "\n" + facts(s.Date, s.Machine, s.Took) + "\n")
	b.WriteString(line("Redisson", "server", "topology", "wire: equal", "justified", "different", "behaviours shown", "Go wakes Java", "Java wakes Go"))
	b.WriteString(rule(9))
	for _, p := range s.Pairs {
		b.WriteString(r.row(p))
	}
	b.WriteString("\nThere these differences are justified, beside those above. The numbers are of scenarios.\n\n")
	cells := []string{"difference", "why"}
	var columns []func(*pair) bool
	for _, version := range severalReleases {
		for _, topology := range severalTopologies {
			cells = append(cells, version+", "+string(topology))
			columns = append(columns, func(p *pair) bool { return p.Redisson == version && p.Topology == topology })
		}
	}
	b.WriteString(line(cells...) + rule(len(cells)))
	for _, d := range wire.JustifiedAtPlaces() {
		cells := []string{d.Name, d.Reason}
		for _, of := range columns {
			cells = append(cells, counted(s.Pairs, of, d.Name))
		}
		b.WriteString(line(cells...))
	}
}

// counted returns in how many scenarios of some pairs a difference occurred, a range if the pairs differ.
func counted(pairs []*pair, of func(*pair) bool, difference string) string {
	var counts []int
	for _, p := range pairs {
		if of(p) {
			counts = append(counts, p.Differences[difference])
		}
	}
	if len(counts) == 0 {
		return "–"
	}
	if least, most := slices.Min(counts), slices.Max(counts); least != most {
		return fmt.Sprintf("%d–%d", least, most)
	}
	return strconv.Itoa(counts[0])
}
