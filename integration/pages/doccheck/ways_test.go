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

// way is how tests run a command of the manual: exactly one of the fields ci, target, part and run is set.
type way struct {
	ci     bool   // the scripts in .ci run it
	target string // a target of the Makefile, made by make test, that runs the same command
	part   string // a folder.Test, run by make test, that does the same or a smaller form of it
	run    bool   // this test runs it, in a copy of the checkout

	// These apply to run.
	instead []string // pairs: the document's text and what runs in its place
	server  bool     // redis://host:port and redis-cli mean a server that is started for the job
	reader  bool     // it runs in the reader's own module; /path/to/checkout is the copy
	prints  string   // what its output must contain
	keeps   []string // files that it must write as they were
}

// ways has a way for each command of the manual that byItself does not cover.
var ways = map[string]way{
	"make test":       {ci: true},
	"make quickstart": {run: true, prints: "Done in"},
	"make install":    {part: "cmd/rlock.TestMakeInstall"},
	"REDIS_URL=redis://host:port make quickstart": {run: true, server: true, prints: "Redis: what REDIS_URL names"},

	"cd integration && go test -v -run TestTwins ./redisson/javatwin": {part: "integration/redisson/javatwin.TestTwinsShareANight"},

	"go test ./...":    {target: "unit"},
	"go test ./rlock":  {target: "unit"},
	"make unit":        {target: "unit"},
	"make modules":     {target: "modules"},
	"make check":       {target: "check"},
	"make integration": {target: "integration"},
	"make interop":     {target: "interop"},
	"cd integration && go test ./pages/doccheck":                                            {target: "integration"},
	"cd integration && go test ./behaviour/invariants -run TestR1LostUnlockReplyCountsOnce": {target: "integration"},
	"cd integration && go test ./behaviour/invariants -run Tables -write":                   {target: "integration"},
	"cd integration && go test ./behaviour/...":                                             {target: "integration"},

	"go get github.com/rlock-go/redisson/rlock":                  {part: "integration/pages/doccheck.TestEveryModuleIsFetchedByItsImportPath"},
	"go install github.com/rlock-go/redisson/cmd/rlock@latest":   {part: "integration/pages/doccheck.TestEveryModuleIsFetchedByItsImportPath"},
	"go get github.com/rlock-go/redisson/rlocktest":              {part: "integration/pages/doccheck.TestEveryModuleIsFetchedByItsImportPath"},
	"go get github.com/rlock-go/redisson/rlockprom":              {part: "integration/pages/doccheck.TestEveryModuleIsFetchedByItsImportPath"},
	"go get github.com/rlock-go/redisson/rlockotel":              {part: "integration/pages/doccheck.TestEveryModuleIsFetchedByItsImportPath"},
	"go run github.com/rlock-go/redisson/docs/quickstart@latest": {part: "integration/pages/doccheck.TestEveryModuleIsFetchedByItsImportPath"},

	"git clone https://github.com/rlock-go/redisson /path/to/checkout":                        {part: "integration/pages/doccheck.TestEveryCommandOfTheManualIsRun"}, // in a copy
	"go mod edit -replace github.com/rlock-go/redisson=/path/to/checkout":                     {run: true, reader: true},
	"go mod edit -replace github.com/rlock-go/redisson/rlocktest=/path/to/checkout/rlocktest": {run: true, reader: true},
	"go mod edit -replace github.com/rlock-go/redisson/rlockprom=/path/to/checkout/rlockprom": {run: true, reader: true},
	"go mod edit -replace github.com/rlock-go/redisson/rlockotel=/path/to/checkout/rlockotel": {run: true, reader: true},
	"go install -C /path/to/checkout/cmd/rlock .":                                             {run: true, reader: true},
	"go mod tidy": {run: true, reader: true},

	"make simulation":                                                             {part: "integration/simulation.TestKnownSeeds"},
	"make simulation FLAGS='-for 10m -seed 0'":                                    {part: "integration/simulation.TestSeeds"},
	"make simulation-all":                                                         {part: "integration/simulation.TestSeeds"},
	"make mutants FLAGS='-simulate 20s -write'":                                   {part: "integration/mutants.TestDocumentHasEveryDefect"},
	"make mutants FLAGS='-simulate 20s -untried -write'":                          {part: "integration/mutants.TestDocumentHasEveryDefect"},
	"cd integration && go run ./simulation/replay SEED -overlay DIR/overlay.json": {part: "integration/simulation.TestReplay"},

	"make test-all":                 {part: "integration/redisson/interop.TestInterop"},
	"make builds":                   {part: "integration/pages/doccheck.TestEveryModuleIsFetchedByItsImportPath"},
	"make unraced":                  {target: "unit"},
	"make raced":                    {target: "integration"},
	"make docker":                   {part: "integration/behaviour.TestNetworkThatIsCutAndHeals"},
	"make chaos":                    {part: "integration/chaos.TestOneServer"},
	"make releases":                 {part: "integration/redisson/interop.TestInterop"},
	"make topologies":               {part: "integration/behaviour/cluster.TestReshardingByRedisCliLosesNoHold"},
	"make kinds":                    {part: "integration/behaviour/invariants.TestKinds"},
	"make kinds FLAGS=-write":       {part: "integration/behaviour/invariants.TestKinds"},
	"make mutants":                  {part: "integration/mutants.TestEveryEditMeetsTheCode"},
	"make mutants FLAGS=-write":     {part: "integration/mutants.TestDocumentHasEveryDefect"},
	"make test-matrix":              {part: "integration/redisson/javamatrix.TestMatrix"},
	"make test-matrix FLAGS=-write": {part: "integration/redisson/javamatrix.TestMatrix"},
	"make test-matrix FLAGS='-versions newest -servers redis-8.0,valkey-8'": {part: "integration/redisson/javamatrix.TestMatrix"},
	"make test-matrix FLAGS='-versions 4.7.0 -servers redis-7.0 -altered'":  {part: "integration/redisson/javamatrix.TestAChangedByteTurnsTheMatrixRed"},
	"make test-matrix FLAGS='-topologies sentinel,cluster -write'":          {part: "integration/redisson/javamatrix.TestMatrix"},
	"make test-matrix FLAGS='-topologies kinds -write'":                     {part: "integration/redisson/javamatrix.TestMatrix"},
	"make bench FLAGS='-parts kinds -write'":                                {part: "integration/bench.TestKindsAreWrittenToTheirOwnPage"},
	"make bench FLAGS='-parts cluster'":                                     {part: "integration/bench.TestPairsAreTwoCommands"},
	"cd integration/bench && go run ./javacourtesy -write":                  {part: "integration/bench/javacourtesy.TestCourtesy"},
	"REDIS_URL=redis://localhost:6379 go run ./leader -watchdog 3s":         {part: "docs/cookbook.TestLeader"},

	"rlock ls":                            {part: "integration/pages/operations.TestEveryCommandOnThePages"},
	"rlock show invoices":                 {part: "integration/pages/operations.TestEveryCommandOnThePages"},
	"rlock unlock --force --yes invoices": {part: "integration/pages/operations.TestEveryCommandOnThePages"},

	"make release VERSION=v0.1.0": {part: "integration/pages/doccheck.TestReleaseWritesVersionsAndPrintsTags"},
	"make tidy":                   {part: "integration/pages/doccheck.TestEveryModuleNamesWhatItNeeds"},

	"make gaps":              {part: "integration/redisson/gaps.TestWhereGoMeetsAFaultWorseIsFound"},
	"make gaps FLAGS=-write": {part: "integration/redisson/gaps.TestTablesRowsAreTheFaults"},

	"make touched": {run: true, prints: "rlock "},

	"make compare": {part: "integration/bench/compare.TestBrokenLocksAreCaughtInTheirCells"},
	"cd integration/bench && go run ./compare -only 'key taken by another/rlock'": {part: "integration/bench/compare.TestEveryCellCanBeNamed"},
	"make compare FLAGS=-write": {
		run: true, instead: []string{"make compare FLAGS=-write", "cd integration/bench && go run ./compare -from ../../docs/dev/compare/run.json -write"},
		keeps: []string{"docs/dev/compare.md", "docs/dev/compare/run.json"},
	},

	"make bench": {part: "integration/bench.TestPairsAreTwoCommands"},
	"make bench FLAGS='-write'": {
		run: true, instead: []string{"make bench FLAGS='-write'", "cd integration/bench && go run . -from ../../docs/performance/run.json -write"},
		keeps: []string{"docs/performance.md", "docs/dev/tables/performance.md", "docs/performance/run.json"},
	},
}

// byItself returns the way of commands that need no row: go doc, cd, and redis-cli, which gets its own server.
func byItself(line string) (way, bool) {
	commands, err := parseScript(line)
	if err != nil || len(commands) == 0 {
		return way{}, false
	}
	w := way{run: true}
	for _, c := range commands {
		switch {
		case len(c.words) == 0:
		case c.words[0] == "cd": // what follows has its own way
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

// job has lines of one block that run together, and their place.
type job struct {
	at    string
	lines []string
	ways  []way
}

// jobs lists the lines of the manual that must run, and the commands that nothing runs.
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

// tested tells whether a target in made tests the module of a folder: its recipe goes there, or names all of it.
func (c *checkout) tested(m makefile, made map[string]bool, dir string) bool {
	for dir != "." && !c.exists(dir+"/go.mod") {
		dir = path.Dir(dir)
	}
	name := regexp.QuoteMeta(dir)
	goes := regexp.MustCompile(`\bcd ` + name + `( |$)| \./` + name + `/\.\.\. `)
	for target := range made {
		if goes.MatchString(m.recipes[target]) {
			return true
		}
	}
	return false
}

// wholeModules matches a recipe that names all packages of some modules.
var wholeModules = regexp.MustCompile(`/\.\.\.|\$\((packages|raced)\)`)

// vain returns why a way runs nothing, or "".
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
		all := func(target string) bool { return wholeModules.MatchString(m.recipes[target]) }
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
