package doccheck

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// way is how a command of the manual is run by tests: just one of its fields ci, target, part and run is set.
type way struct {
	ci     bool   // it is what the scripts in .ci run
	target string // of the Makefile, made by make test, that runs the same command
	part   string // folder.Test, run by make test, that does it, or a smaller form of it
	run    bool   // it is run here, in a copy of the checkout

	// For run.
	instead []string // pairs of what the document says and what is run in its place
	server  bool     // redis://host:port and redis-cli mean a server that is started for it
	reader  bool     // it is run in a module of the reader's own; /path/to/checkout is the copy
	prints  string   // what its output must have
	keeps   []string // files that it writes as they were
}

// ways has a way for each command of the manual that does not run by itself, see byItself.
var ways = map[string]way{
	"make test":       {ci: true},
	"make quickstart": {run: true, prints: "Done in"},
	"REDIS_URL=redis://host:port make quickstart": {run: true, server: true, prints: "Redis: what REDIS_URL names"},

	"cd integration && go test -v -run TestTwins ./javatwin": {part: "integration/javatwin.TestTwinsShareANight"},

	"go test ./...":                        {target: "unit"},
	"go test ./rlock":                      {target: "unit"},
	"make unit":                            {target: "unit"},
	"make modules":                         {target: "modules"},
	"make check":                           {target: "check"},
	"make integration":                     {target: "integration"},
	"make interop":                         {target: "interop"},
	"make docker":                          {target: "docker"},
	"make measured":                        {target: "measured"},
	"cd integration && go test ./doccheck": {target: "integration"},

	"go mod edit -require github.com/rlock-go/redisson@v0.0.0 -replace github.com/rlock-go/redisson=/path/to/checkout":                               {run: true, reader: true},
	"go mod edit -require github.com/rlock-go/redisson/rlocktest@v0.0.0 -replace github.com/rlock-go/redisson/rlocktest=/path/to/checkout/rlocktest": {run: true, reader: true},
	"go mod tidy": {run: true, reader: true},

	"cd integration && go test ./monitoring -write": {target: "integration"},

	"make test-all":                 {part: "integration/interop.TestInterop"},
	"make releases":                 {part: "integration/interop.TestInterop"},
	"make topologies":               {part: "integration/cluster.TestGoAndJavaWakeEachOtherInACluster"},
	"make torture":                  {part: "integration/torture.TestTorture"},
	"make endurance":                {part: "integration/endurance.TestEndurance"},
	"make endurance FLAGS=-write":   {part: "integration/endurance.TestEndurance"},
	"make failover":                 {part: "integration/failover.TestOneOfEachKind"},
	"make failover FLAGS=-write":    {part: "integration/failover.TestOneOfEachKind"},
	"make endurance FLAGS=-defects": {part: "integration/endurance.TestEveryDefectMeetsTheCode"},
	"make faults":                   {part: "integration/faults.TestFaults"},
	"make faults FLAGS=-write":      {part: "integration/faults.TestFaults"},
	"make kinds":                    {part: "integration/invariants.TestKinds"},
	"make kinds FLAGS=-write":       {part: "integration/invariants.TestKinds"},
	"make mutants":                  {part: "integration/mutants.TestEveryEditMeetsTheCode"},
	"make mutants FLAGS=-write":     {part: "integration/mutants.TestDocumentHasEveryDefect"},
	"make test-matrix":              {part: "integration/javamatrix.TestMatrix"},
	"make test-matrix FLAGS=-write": {part: "integration/javamatrix.TestMatrix"},
	"make test-matrix FLAGS='-versions newest -servers redis-8.0,valkey-8'": {part: "integration/javamatrix.TestMatrix"},
	"make test-matrix FLAGS='-versions 4.7.0 -servers redis-7.0 -altered'":  {part: "integration/javamatrix.TestAChangedByteTurnsTheMatrixRed"},
	"make test-matrix FLAGS='-topologies sentinel,cluster -write'":          {part: "integration/javamatrix.TestMatrix"},
	"make test-matrix FLAGS='-topologies kinds -write'":                     {part: "integration/javamatrix.TestMatrix"},
	"make bench FLAGS='-parts kinds -write'":                                {part: "integration/bench.TestKindsAreWrittenToTheirOwnPage"},
	"make bench FLAGS='-parts cluster'":                                     {part: "integration/bench/peers.TestPeersAreBuiltInButForThoseThatCanNotBeHad"},
	"cd integration && go run ./javacourtesy -write":                        {part: "integration/javacourtesy.TestCourtesy"},
	"REDIS_URL=redis://localhost:6379 go run ./leader -watchdog 3s":         {part: "docs/cookbook.TestLeader"},

	"rlock ls":                            {part: "integration/operations.TestEveryCommandOnThePages"},
	"rlock show invoices":                 {part: "integration/operations.TestEveryCommandOnThePages"},
	"rlock unlock --force --yes invoices": {part: "integration/operations.TestEveryCommandOnThePages"},

	"make touched":    {run: true, prints: "rlock "},
	"make references": {run: true, prints: "rlock "},

	"make compare": {part: "integration/bench/compare.TestBrokenLocksAreCaughtInTheirCells"},
	"cd integration/bench && go run ./compare -only 'key taken by another/rlock'": {part: "integration/bench/compare.TestEveryCellCanBeNamed"},
	"make compare FLAGS=-write": {
		run: true, instead: []string{"make compare FLAGS=-write", "cd integration/bench && go run ./compare -from ../../docs/compare/run.json -write"},
		keeps: []string{"docs/compare.md", "docs/compare/run.json", "docs/compare/grid.svg"},
	},

	"make bench": {part: "integration/bench/peers.TestPeersAreBuiltInButForThoseThatCanNotBeHad"},
	"make bench FLAGS='-write'": {
		run: true, instead: []string{"make bench FLAGS='-write'", "cd integration/bench && go run . -from ../../docs/performance/run.json -write"},
		keeps: []string{
			"docs/performance.md", "docs/dev/tables/performance.md", "docs/performance/run.json",
			"docs/performance/pairs.svg", "docs/performance/handoff.svg", "docs/performance/contention.svg",
		},
	},
}

// byItself is the way of commands that need no row: go doc, cd, and redis-cli, which gets a server of its own.
func byItself(line string) (way, bool) {
	commands, err := parseScript(line)
	if err != nil || len(commands) == 0 {
		return way{}, false
	}
	w := way{run: true}
	for _, c := range commands {
		switch {
		case len(c.words) == 0:
		case c.words[0] == "cd": // and what follows has a way of its own
		case c.words[0] == "redis-cli":
			w.server = true
		case c.words[0] == "go" && len(c.words) > 1 && c.words[1] == "doc":
		case c.piped && slices.Contains([]string{"grep", "head", "tail", "sort", "wc", "awk", "xargs"}, c.words[0]):
		default:
			return way{}, false
		}
	}
	return w, true
}

// job is lines of one block that are run together, and where they are.
type job struct {
	at    string
	lines []string
	ways  []way
}

// jobs lists what is to be run of the manual, and which commands nothing runs.
func (c *checkout) jobs(ways map[string]way) (jobs []job, wrong []string) {
	m, err := c.makefile()
	if err != nil {
		return nil, []string{err.Error()}
	}
	used := map[string]bool{}
	ran := map[string]bool{}
	add := func(j *job, at, line string) {
		w, ok := ways[line]
		used[line] = true
		if !ok {
			if w, ok = byItself(line); !ok {
				wrong = append(wrong, fmt.Sprintf("%s: nothing runs %q: it needs a row in ways", at, line))
				return
			}
		}
		if why := c.vain(m, w); why != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %q: %s", at, line, why))
		} else if w.run {
			j.lines, j.ways = append(j.lines, line), append(j.ways, w)
		}
	}
	keep := func(j job) {
		script := strings.Join(j.lines, "\n")
		if len(j.lines) > 0 && !ran[script] {
			ran[script] = true
			jobs = append(jobs, j)
		}
	}
	for _, name := range sorted(c.pages) {
		if !manual(name) {
			continue
		}
		for _, b := range c.pages[name].blocks {
			lines, _ := b.script()
			var j job
			for _, l := range lines {
				if j.at == "" {
					j.at = where(name, l.line)
				}
				add(&j, where(name, l.line), l.text)
			}
			keep(j)
		}
		for _, s := range c.pages[name].spans {
			if spanCommand.MatchString(s.text) {
				j := job{at: where(name, s.line)}
				add(&j, j.at, s.text)
				keep(j)
			}
		}
	}
	for _, dir := range sorted(c.packages) {
		if dir != "." && c.exists(dir+"/go.mod") && !c.tested(m, m.runs("test", nil), dir) {
			wrong = append(wrong, "make test does not test the module "+dir)
		}
	}
	for _, line := range sorted(ways) {
		if !used[line] {
			wrong = append(wrong, fmt.Sprintf("no page has %q any more", line))
		}
	}
	return jobs, wrong
}

// tested tells whether a target that is made tests the module of a folder: it goes there in its recipe.
func (c *checkout) tested(m makefile, made map[string]bool, dir string) bool {
	for dir != "." && !c.exists(dir+"/go.mod") {
		dir = path.Dir(dir)
	}
	goes := regexp.MustCompile(`\bcd ` + regexp.QuoteMeta(dir) + `( |$)`)
	for target := range made {
		if goes.MatchString(m.recipes[target]) {
			return true
		}
	}
	return false
}

// vain says why a way runs nothing, if so.
func (c *checkout) vain(m makefile, w way) string {
	made := m.runs("test", nil)
	switch {
	case w.ci:
		scripts, _ := filepath.Glob(filepath.Join(c.root, ".ci", "*"))
		for _, s := range scripts {
			if text, err := os.ReadFile(s); err == nil && strings.Contains(string(text), "\nexec make test") {
				return ""
			}
		}
		return "nothing in .ci runs make test"
	case w.target != "":
		if !made[w.target] {
			return "make test does not make " + w.target
		}
		all := func(target string) bool { return strings.Contains(m.recipes[target], "./...") }
		if !slices.ContainsFunc(sorted(m.runs(w.target, nil)), all) {
			return w.target + " does not test ./..."
		}
	case w.part != "":
		dir, test, _ := strings.Cut(w.part, ".")
		if p := c.packages[dir]; p == nil || !p.declared(true)[test] {
			return "there is no " + w.part
		}
		if !c.tested(m, made, dir) {
			return "make test does not test " + dir
		}
	}
	return ""
}
