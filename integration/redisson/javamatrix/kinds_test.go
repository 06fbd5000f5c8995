package javamatrix

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/runfile"
	"github.com/rlock-go/redisson/integration/redisson/interop"
	"github.com/rlock-go/redisson/integration/redisson/javakinds"
	"github.com/rlock-go/redisson/integration/redisson/wire"
)

// lockKind is a lock object other than the plain one: the releases that have it, and what is played of it.
type lockKind struct {
	name       string
	releases   []string
	scenarios  []string // of package wire
	behaviours []interop.Behaviour
	onlyScenes bool // leave out the behaviours and the shows of package javakinds
}

var lockKinds = []lockKind{
	{name: "spin", releases: javapeer.SpinVersions(true), scenarios: wire.Names(javapeer.Spin), behaviours: interop.SpinBehaviours},
	{name: "fenced", releases: javapeer.FencedVersions(true), scenarios: wire.Names(javapeer.Fenced), behaviours: interop.FencedBehaviours},
	{name: "non-reentrant", releases: []string{javapeer.Newest}, scenarios: wire.Names(javapeer.NonReentrant), behaviours: interop.NonReentrantBehaviours},
	{name: "fair", releases: javapeer.Recorded, behaviours: interop.FairBehaviours},
	{name: "read-write", releases: javapeer.Recorded, behaviours: interop.WriteBehaviours},
	{name: "permits", releases: javapeer.PermitVersions(true)},
	{name: "semaphore", releases: javapeer.Recorded},
	{name: "latch", releases: javapeer.Recorded},
}

// kindsPart names the other kinds of locks in -topologies, though they are no topology.
const kindsPart wire.Topology = "kinds"

// kindsServers are the default servers for kinds.
var kindsServers = []string{"redis-7.0"}

func (r *run) playKinds(t *testing.T) {
	began := time.Now()
	k := &section{Date: began.UTC().Format(time.DateOnly), Machine: describeMachine()}
	r.Kinds = k
	wanted := kindsServers
	if *servers != "" {
		wanted = chooseServers()
	}
	k.Servers = fetchServers(t, wanted)
	for _, kind := range lockKinds {
		if *kindNames != "" && !slices.Contains(strings.Split(*kindNames, ","), kind.name) {
			continue
		}
		for _, version := range kind.releases {
			if *versions != "" && !slices.Contains(strings.Split(*versions, ","), version) {
				continue
			}
			for _, s := range k.Servers {
				if s.Missing == "" {
					k.Pairs = append(k.Pairs, playKind(t, kind, version, s))
				}
			}
		}
	}
	k.Took = time.Since(began).Round(time.Second)
	k.Machine.LoadAtTheEnd = load()
}

// playKind plays a kind with a release on a server. A failure fails t, and is noted in the pair.
func playKind(t *testing.T, kind lockKind, version string, s server) *pair {
	began := time.Now()
	p := &pair{Redisson: version, Server: s.Name, Kind: kind.name, Differences: map[string]int{}, Ended: "the beginning"}
	t.Run(fmt.Sprintf("%s of %s on %s", kind.name, version, s.Name), func(t *testing.T) {
		s.use(t)
		if kind.scenarios != nil {
			p.prove(t, part{scenarios: kind.scenarios})
		}
		own := slices.IndexFunc(javakinds.Kinds, func(k javakinds.Kind) bool { return k.Name == kind.name })
		if own >= 0 {
			p.playAll(t, "scenes", javakinds.Kinds[own].OnTheWire, &p.Equal)
		}
		if !kind.onlyScenes {
			p.show(t, brief(kind.behaviours))
			if own >= 0 {
				p.playAll(t, "beside Java", javakinds.Kinds[own].BesideJava, &p.Passed)
			}
		}
		p.Ended = ""
	})
	fmt.Printf("%s %s, %s: %d equal, %d justified, %d shown: %s, %.0f s\n", kind.name, version, s.title(),
		p.Equal, p.Justified, p.Passed, p.verdict(), time.Since(began).Seconds())
	return p
}

// playAll adds to passed how many were played, or notes that they failed.
func (p *pair) playAll(t *testing.T, what string, play func(*testing.T, string) int, passed *int) {
	p.Ended = what
	if !t.Run(what, func(t *testing.T) { *passed += play(t, p.Redisson) }) {
		p.Failed = append(p.Failed, what)
	}
}

// played returns the kinds of which the run played something. The page leaves out the others.
func (k *section) played() (all []lockKind) {
	for _, kind := range lockKinds {
		if slices.ContainsFunc(k.Pairs, func(p *pair) bool { return p.Kind == kind.name }) {
			all = append(all, kind)
		}
	}
	return all
}

// ofKind is how a release did with a kind, on all servers together.
func (k *section) ofKind(version string, kind lockKind) string {
	if !slices.Contains(kind.releases, version) {
		return "–"
	}
	verdict := "not run"
	for _, p := range k.Pairs {
		if p.Redisson == version && p.Kind == kind.name {
			if verdict = p.verdict(); p.red() {
				break
			}
		}
	}
	return verdict
}

const kindsDetailsHead = `## Other lock objects

Scenarios of fair locks, of read-write locks, of both kinds of semaphores and of latches are compared by what each step leaves: keys,
fields, numbers, queue, times, TTLs, messages.
The write lock of a read-write lock is shown what a plain lock is, too. – : that release of Redisson
has no such object. This makes these rows anew, and leaves the rest as it is:

    make test-matrix FLAGS='-topologies kinds -write'
`

// summary writes for each kind the releases with which it works, and nothing without a run.
func (k *section) summary(b *strings.Builder) {
	if k == nil {
		return
	}
	fmt.Fprintf(b, "\nThe other objects were tried on %s:\n\n", k.where())
	b.WriteString(line("object", "works with Redisson") + rule(2))
	for _, kind := range k.played() {
		of := func(verdict string) (all []string) {
			for _, version := range kind.releases {
				if k.ofKind(version, kind) == verdict {
					all = append(all, version)
				}
			}
			return all
		}
		works := of("works")
		cell := strings.Join(works, ", ")
		if len(works) == len(kind.releases) && len(works) > 2 {
			cell = works[len(works)-1] + "–" + works[0]
		}
		if red := of(verdictRed); red != nil {
			cell += " " + verdictRed + " " + strings.Join(red, ", ")
		}
		b.WriteString(line(kind.name, cell))
	}
	b.WriteString(line("fair, read-write and permits, with a `NameMapper` [on both sides](docs/from-java.md#a-namemapper-beside-an-old-redisson)", mapped))
}

func (k *section) where() string { return strings.Join(titles(k.Servers), ", ") }

// columns writes a row for each release and a column for each kind.
func (k *section) columns(b *strings.Builder) {
	cells := []string{"Redisson"}
	for _, kind := range k.played() {
		cells = append(cells, kind.name)
	}
	b.WriteString(line(cells...) + rule(len(cells)))
	for _, version := range javapeer.Recorded {
		cells := []string{version}
		for _, kind := range k.played() {
			cells = append(cells, k.ofKind(version, kind))
		}
		b.WriteString(line(cells...))
	}
}

func (r *run) kindsDetails(b *strings.Builder) {
	if r.Kinds == nil {
		return
	}
	b.WriteString("\n" + kindsDetailsHead + "\n" + facts(r.Kinds.Date, r.Kinds.Machine, r.Kinds.Took) + "\n")
	r.Kinds.columns(b)
	b.WriteString("\n" + line("Redisson", "server", "kind", "wire: equal", "justified", "different", "behaviours shown", "Go wakes Java", "Java wakes Go") + rule(9))
	for _, p := range r.Kinds.Pairs {
		b.WriteString(r.row(p))
	}
}

// TestMatrixOfKinds plays a kind in part. The page must show its results and no more.
func TestMatrixOfKinds(t *testing.T) {
	s := server{Name: own, Version: "Redis"}
	kind := lockKinds[slices.IndexFunc(lockKinds, func(k lockKind) bool { return k.name == "read-write" })]
	kind.onlyScenes = true
	r := &run{Kinds: &section{Servers: []server{s}}}
	p := playKind(t, kind, javapeer.Newest, s)
	r.Kinds.Pairs = []*pair{p, {Redisson: "4.3.0", Server: own, Kind: "spin"}}
	if p.red() || p.Equal < 10 {
		t.Errorf("%+v", p)
	}
	has := func(want string) {
		t.Helper()
		if page := r.summary() + r.details(); !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	has("| 4.7.0 | not run | works |\n")
	has("| 3.11.6 | – | not run |\n")
	has("| spin | 4.3.0 |\n| read-write | 4.7.0 |\n")
	has(fmt.Sprintf("| 4.7.0 | Redis | read-write | %d | 0 | 0 | 0 |", p.Equal))
	p.Failed = []string{"scenes"}
	if !r.red() {
		t.Error("a kind that failed is not red")
	}
	has("| 4.7.0 | not run | **RED** |\n")
	has("| read-write |  **RED** 4.7.0 |\n")
	has("### 4.7.0 on Redis on read-write\n")
}

// TestKindsOnThePageAreThoseThatWereRun wants every kind of the page played in full.
func TestKindsOnThePageAreThoseThatWereRun(t *testing.T) {
	r, err := runfile.Read[run](recorded)
	if err != nil {
		t.Fatal(err)
	}
	if r.Kinds == nil {
		if page := r.summary() + r.details(); strings.Contains(page, "Other lock objects") {
			t.Error("the page tells of what was not run")
		}
		return
	}
	for _, kind := range r.Kinds.played() {
		for _, version := range kind.releases {
			if got := r.Kinds.ofKind(version, kind); got != "works" {
				t.Errorf("%s of %s: %s", kind.name, version, got)
			}
		}
	}
}
