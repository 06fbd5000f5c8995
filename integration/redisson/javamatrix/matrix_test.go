package javamatrix

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/runfile"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/integration/redisson/interop"
	"github.com/rlock-go/redisson/integration/redisson/wire"
)

var (
	full      = flag.Bool("full", false, "play every pair, and each in full")
	versions  = flag.String("versions", "", "only these releases of Redisson, with commas between; newest is one")
	servers   = flag.String("servers", "", "only these servers, with commas between")
	places    = flag.String("topologies", "", "only these, with commas between: one (server), sentinel, cluster, kinds (of locks)")
	kindNames = flag.String("kinds", "", "only these kinds of locks, with commas between")
	altered   = flag.Bool("altered", false, "give Go an unlock script with one byte changed, which has to turn the matrix red")
	write     = flag.Bool("write", false, "write "+details+" and a table of "+readme+"; needs -full and all pairs, or those of sentinel,cluster or of kinds")
)

const (
	newest = "newest"
	own    = "own"           // the server that all other tests use
	limit  = 2 * time.Minute // of one behaviour
	// bearable is the number of failures after which a pair is given up.
	bearable = 4
	// fetching leaves room for a slow connection.
	fetching = 10 * time.Minute
)

func TestMain(m *testing.M) {
	interop.KeepIfAsked()
	flag.Parse()
	goleak.VerifyTestMain(m)
}

// changedByte has Go's unlock script release two holds instead of one.
func changedByte(t testing.TB) wire.Altered { return wire.Alter(t, "unlock once", "-1", "-2") }

// TestMatrix plays one pair in part, with -full all pairs, and prints the page.
func TestMatrix(t *testing.T) {
	onlySeveral, onlyKinds := *places == string(wire.Sentinel+","+wire.Cluster), *places == string(kindsPart)
	if *write && (!*full || *versions != "" || *kindNames != "" || *servers != "" || *places != "" && !onlySeveral && !onlyKinds || *altered) {
		t.Fatal("only a whole matrix is written down, or the whole of several servers or of kinds: -full, and neither -versions, -kinds, -servers, other -topologies nor -altered")
	}
	began := time.Now()
	r := &run{Date: began.UTC().Format(time.DateOnly), Machine: describeMachine()}
	if chosen(one) {
		r.playPairs(t, began)
	}
	if *full && (chosen(wire.Sentinel) || chosen(wire.Cluster)) {
		r.playSeveral(t)
	}
	if *full && chosen(kindsPart) {
		r.playKinds(t)
	}
	if len(r.all()) == 0 {
		t.Fatal("no pair could be played")
	}
	if *write && (onlySeveral || onlyKinds) {
		// The rest stays as it was recorded.
		before, err := runfile.Read[run](recorded)
		testbed.Must(t, err)
		if onlySeveral {
			before.Several = r.Several
		} else {
			before.Kinds = r.Kinds
		}
		r = before
	}
	fmt.Print(r.summary(), r.details())
	if r.red() {
		t.Error("the matrix is red")
	}
	if *write {
		pages, err := r.pages()
		testbed.Must(t, err)
		for file, text := range pages {
			testbed.Must(t, os.WriteFile(file, []byte(text), 0o644))
		}
		testbed.Must(t, runfile.Save(recorded, r))
	}
}

// one names the single servers in -topologies, though they are no topology.
const one wire.Topology = "one"

func chosen(topology wire.Topology) bool {
	return *places == "" || slices.Contains(strings.Split(*places, ","), string(topology))
}

func (r *run) playPairs(t *testing.T, began time.Time) {
	what := inPart()
	if *full {
		what = inFull()
	}
	if *altered {
		what.altered = []wire.Altered{changedByte(t)}
	}
	for _, b := range what.behaviours {
		r.Behaviours = append(r.Behaviours, b.Name)
	}
	releases := r.chooseReleases(t)
	r.Servers = fetchServers(t, chooseServers())
	r.Pairs = playEach(t, r, releases, r.Servers, what)
	r.Took = time.Since(began).Round(time.Second)
	r.Machine.LoadAtTheEnd = load()
}

func playEach(t *testing.T, r *run, releases []string, servers []server, what part) (pairs []*pair) {
	for _, version := range releases {
		for _, s := range servers {
			if s.Missing != "" {
				continue
			}
			t.Run(strings.TrimSpace(version+" on "+s.Name+" "+string(what.topology)), func(t *testing.T) {
				started := time.Now()
				p := play(t, version, s, what)
				pairs = append(pairs, p)
				for _, d := range p.Different {
					t.Errorf("%s: %s", d.Scenario, d.What)
				}
				for _, name := range p.Unused {
					t.Errorf("the justification %q has nothing to justify", name)
				}
				fmt.Printf("%s %.0f s\n", strings.TrimSpace(r.row(p)), time.Since(started).Seconds())
			})
		}
	}
	return pairs
}

// inPart is the part that a plain run plays of its one pair: what takes less than a second.
func inPart() (p part) {
	slow := []string{"renewal", "expiry", "timed try"}
	for _, name := range wire.Names(javapeer.Plain) {
		if !slices.ContainsFunc(slow, func(s string) bool { return strings.Contains(name, s) }) {
			p.scenarios = append(p.scenarios, name)
		}
	}
	slow = []string{"Killed", "LeaseEnds", "JavaForceUnlock", "Names"}
	for _, b := range brief(interop.Behaviours) {
		if !slices.ContainsFunc(slow, func(s string) bool { return strings.Contains(b.Name, s) }) {
			p.behaviours = append(p.behaviours, b)
		}
	}
	return p
}

func inFull() part {
	return part{scenarios: wire.Names(javapeer.Plain), behaviours: brief(interop.Behaviours)}
}

// brief returns the behaviours that a pair runs, which are the Brief ones.
func brief(all []interop.Behaviour) []interop.Behaviour {
	return slices.DeleteFunc(slices.Clone(all), func(b interop.Behaviour) bool { return !b.Brief })
}

func (r *run) chooseReleases(t *testing.T) []string {
	wanted := strings.Split(*versions, ",")
	switch {
	case *versions != "":
	case *full:
		wanted = append([]string{newest}, javapeer.Recorded...)
	default:
		return []string{javapeer.Newest}
	}
	var releases []string
	for _, version := range wanted {
		if version == newest {
			ctx, cancel := context.WithTimeout(t.Context(), fetching)
			defer cancel()
			var err error
			if r.Newest, err = javapeer.Released(ctx); err != nil {
				t.Log(err)
				r.NoNewest, _, _ = strings.Cut(err.Error(), "\n")
				continue
			}
			version = r.Newest
		}
		if !slices.Contains(releases, version) {
			releases = append(releases, version)
		}
	}
	// Builds come first: a failure is known before the others play for minutes.
	return slices.DeleteFunc(releases, func(version string) bool {
		err := javapeer.Build(t.Context(), version)
		if err != nil {
			t.Log(err)
			why, _, _ := strings.Cut(err.Error(), "\n")
			r.Unbuilt = append(r.Unbuilt, version+": "+why)
		}
		return err != nil
	})
}

func chooseServers() []string {
	switch {
	case *servers != "":
		return strings.Split(*servers, ",")
	case *full:
		return redisserver.Packages
	}
	return []string{own}
}

func fetchServers(t *testing.T, wanted []string) (all []server) {
	ctx, cancel := context.WithTimeout(t.Context(), fetching)
	defer cancel()
	for _, name := range wanted {
		s := server{Name: name}
		if name != own {
			var err error
			if s.binary, err = redisserver.Fetch(ctx, name); err != nil {
				s.Missing = err.Error()
				fmt.Printf("%s is missing: %v\n", name, err)
			}
		}
		if s.Missing == "" {
			s.Version = versionOf(t, s)
		}
		all = append(all, s)
	}
	return all
}

// use makes this the server that t starts.
func (s server) use(t *testing.T) {
	if s.binary != "" {
		t.Setenv("RLOCK_REDIS_SERVER", s.binary)
	}
}

// versionOf starts a server to ask it.
func versionOf(t *testing.T, s server) (version string) {
	t.Run(s.Name, func(t *testing.T) {
		s.use(t)
		var err error
		if version, err = redisserver.Version(redisserver.Dial(t, redisserver.Local(t))); err != nil {
			t.Fatal(err)
		}
	})
	return version
}
