package wire

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// Proof compares package rlock with one release of Redisson on one kind of server.
type Proof struct {
	benches *benches
	publish rlock.Publish   // Go's, in a cluster
	used    map[string]bool // rules
	kinds   []javapeer.Kind // that were played
	javaSHA map[string]string
	goSHA   map[string]string
}

// New prepares a proof. Servers and JVMs start at their first use and end with t.
func New(t *testing.T, version string) *Proof {
	return &Proof{
		benches: &benches{t: t, version: version, by: map[time.Duration]*bench{}},
		used:    map[string]bool{}, javaSHA: map[string]string{}, goSHA: map[string]string{},
	}
}

// NewAt is New for the servers of a place.
func NewAt(t *testing.T, version string, place *Place) *Proof {
	p := New(t, version)
	p.benches.place = place
	return p
}

// Publishing returns a proof with p's servers and JVMs, in which Go's releases in a cluster publish as publish says.
// Without it they publish as by default.
func (p *Proof) Publishing(publish rlock.Publish) *Proof {
	return &Proof{
		benches: p.benches, publish: publish,
		used: map[string]bool{}, javaSHA: map[string]string{}, goSHA: map[string]string{},
	}
}

// setting is what justifications may depend on besides the scenario.
func (p *Proof) setting() setting {
	s := setting{version: p.benches.version, publish: p.publish}
	if p.benches.place != nil {
		s.topology = p.benches.place.topology
	}
	return s
}

// Finding is one scenario's result.
type Finding struct {
	// Difference lists, call by call, what differs without a justification; empty if nothing does.
	Difference string
	// Justified are the intended differences. Equal traces have none.
	Justified []Difference
	// Unused are rules that had to find something in this scenario and did not.
	Unused []string
	// Java and Go are the traces.
	Java, Go string
}

// Difference is a justified difference.
type Difference struct {
	// Name is the rule's, in a few words.
	Name string
	// Reason is why the two sides may differ so.
	Reason string
}

// Justified returns the differences that a plain lock may have anywhere, with any release.
func Justified() (all []Difference) { return justifiedWhere(false) }

// JustifiedAtPlaces returns those that more than one server adds.
func JustifiedAtPlaces() (all []Difference) { return justifiedWhere(true) }

func justifiedWhere(several bool) (all []Difference) {
	for _, j := range justified {
		if j.of(javapeer.Plain) && several == (len(j.topologies) > 0) {
			all = append(all, Difference{j.rule.name, j.reason})
		}
	}
	return all
}

// Names returns the names of a kind of lock's scenarios, in their order.
func Names(k javapeer.Kind) (all []string) {
	for _, sc := range scenarios {
		if sc.kind == k {
			all = append(all, sc.name)
		}
	}
	return all
}

// PlaceNames returns the names of the scenarios for a place: those that are neither slow nor about odd names.
func PlaceNames() (all []string) {
	one := []string{"of five", "a hundred", "expiry", "timed", "re-entry with", "name "}
	for _, name := range Names(javapeer.Plain) {
		if !slices.ContainsFunc(one, func(s string) bool { return strings.Contains(name, s) }) {
			all = append(all, name)
		}
	}
	return all
}

// Play has both sides play the scenario of that name. A scenario that can't be played fails t at once; a difference does
// not, it is for the caller to judge. The Go side uses the altered scripts, if there are any.
func (p *Proof) Play(t *testing.T, name string, altered ...Altered) Finding {
	t.Helper()
	i := slices.IndexFunc(scenarios, func(sc scenario) bool { return sc.name == name })
	if i < 0 {
		t.Fatalf("wire: there is no scenario %q", name)
	}
	sc := scenarios[i]
	if len(altered) > 0 {
		// The library loads only its own scripts. An altered one is loaded for it.
		sc.firstUse = false
	}
	if !slices.Contains(p.kinds, sc.kind) {
		p.kinds = append(p.kinds, sc.kind)
	}
	b := p.benches.on(t, sc)
	java := b.playJava(sc)
	golang := b.playGo(sc, p.publish, altered...)
	maps.Copy(p.javaSHA, java.shas)
	maps.Copy(p.goSHA, golang.shas)

	f := Finding{Java: java.String(), Go: golang.String()}
	var rules []rule
	must := map[string]bool{}
	for _, j := range justifiedFor(sc, p.setting()) {
		rules = append(rules, j.rule)
		must[j.rule.name] = j.scenarios != nil
	}
	report, unused := compare(java, golang, rules)
	f.Difference = report
	for _, j := range justifiedFor(sc, p.setting()) {
		switch found := !slices.Contains(unused, j.rule.name); {
		case found:
			p.used[j.rule.name] = true
			f.Justified = append(f.Justified, Difference{j.rule.name, j.reason})
		case must[j.rule.name]:
			f.Unused = append(f.Unused, j.rule.name)
		}
	}
	return f
}

// Unused returns the rules for this release, and for the kinds of locks that were played, that found nothing in any
// scenario.
func (p *Proof) Unused() (names []string) {
	for _, j := range justified {
		covers := func(k javapeer.Kind) bool { return j.covers(p.setting(), k) }
		if slices.ContainsFunc(p.kinds, covers) && !p.used[j.rule.name] {
			names = append(names, j.rule.name)
		}
	}
	return names
}
