package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/gate"
	"github.com/rlock-go/redisson/integration/internal/codeedit"
)

const (
	document = "docs/dev/topologies.md"
	begins   = "<!-- the table of make failover: written by it, not by hand -->\n"
	ends     = "<!-- end of the table -->\n"
)

// chosen are the parts whose name has these words.
func chosen(words string) []part {
	return slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return !strings.Contains(p.kind, words) })
}

// String is a round in a line, and what was odd in it in further ones.
func (r result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: again after %v, other shards %v; %d kept, %d told as lost; %d entries, %d errors; n of n %d, fewer %d, 0 %d, no WAIT %d; twice inside %d + %v",
		r.kind, short(r.back), short(r.others), r.kept, r.lost, r.entries, r.failed, r.proofs[gate.Proven], r.proofs[gate.Fewer], r.proofs[gate.Zero], r.proofs[gate.None], r.proven, r.unproven)
	if r.told > 0 {
		fmt.Fprintf(&b, "; %d waiters inside %v after the release", r.told, short(r.woken))
	}
	if r.gap > 0 {
		fmt.Fprintf(&b, "; renewals up to %v apart", short(r.gap))
	}
	for _, w := range r.wrong {
		fmt.Fprintf(&b, "\n    VIOLATION %s", w)
	}
	for i, n := range r.notes {
		if i == 10 {
			fmt.Fprintf(&b, "\n    … %d more", len(r.notes)-i)
			break
		}
		fmt.Fprintf(&b, "\n    %s", n)
	}
	return b.String()
}

func short(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// table is all rounds, by kind.
func table(all []result) string {
	var b strings.Builder
	b.WriteString("| what happened | rounds | nobody entered for: median, max | the same, other shards, max | holds kept | told as lost | entries: n of n, fewer, 0, no WAIT | two inside, both n of n | two inside, others |\n|---|---|---|---|---|---|---|---|---|\n")
	var more strings.Builder
	for _, p := range parts {
		var mine []result
		for _, r := range all {
			if r.kind == p.kind {
				mine = append(mine, r)
			}
		}
		if len(mine) == 0 {
			continue
		}
		sum := added(mine)
		slices.SortFunc(mine, func(x, y result) int { return int(x.back - y.back) })
		others := "–"
		if sum.others > 0 {
			others = short(sum.others).String()
		}
		fmt.Fprintf(&b, "| %s | %d | %v, %v | %s | %d | %d | %d, %d, %d, %d | %d | %d |\n", p.kind, len(mine),
			short(mine[len(mine)/2].back), short(mine[len(mine)-1].back), others, sum.kept, sum.lost,
			sum.proofs[gate.Proven], sum.proofs[gate.Fewer], sum.proofs[gate.Zero], sum.proofs[gate.None], sum.proven, sum.twice())
		for _, what := range slices.Sorted(maps.Keys(sum.unproven)) {
			fmt.Fprintf(&more, "\nTwo inside, %s, %s: %d.\n", p.kind, what, sum.unproven[what])
		}
		if sum.gap > 0 {
			fmt.Fprintf(&more, "\n%s: renewals on the other shards were %v apart at most, with a third of %v.\n", p.kind, short(sum.gap), lease/3)
		}
		if p.kind == clusterMoved {
			fmt.Fprintf(&more, "\n%s: when all were released at once, the last of them had been entered after %v at most.\n", p.kind, short(sum.woken))
		}
	}
	return b.String() + more.String()
}

// added is the sum of some rounds, and the largest of their times.
func added(all []result) (sum result) {
	sum.unproven = map[string]int{}
	for _, r := range all {
		sum.others, sum.gap, sum.woken = max(sum.others, r.others), max(sum.gap, r.gap), max(sum.woken, r.woken)
		sum.kept, sum.lost, sum.proven = sum.kept+r.kept, sum.lost+r.lost, sum.proven+r.proven
		for i, n := range r.proofs {
			sum.proofs[i] += n
		}
		for what, n := range r.unproven {
			sum.unproven[what] += n
		}
	}
	return sum
}

func (r result) twice() (n int) {
	for _, k := range r.unproven {
		n += k
	}
	return n
}

// library are the folders that a program with locks is built from.
var library = strings.Fields("codec pubsub rlock watchdog internal/command internal/kind internal/lockstate internal/luasrc " +
	"internal/pipeline internal/redisconn internal/topology internal/waitqueue internal/wakepolicy")

// revision is the commit that changed the library last.
func revision() string {
	root, err := codeedit.Root()
	if err != nil {
		return err.Error()
	}
	git := func(args ...string) string {
		ask := exec.Command("git", append(append(args, "--"), library...)...)
		ask.Dir = root
		out, _ := ask.Output()
		return string(bytes.TrimSpace(out))
	}
	commit := git("log", "-1", "--format=%h", "--abbrev=12")
	if git("status", "--porcelain") != "" {
		commit += " and changes"
	}
	return commit
}

// circumstances are those of this run.
func circumstances(commit string, took time.Duration) string {
	server, _ := exec.Command("redis-server", "--version").Output()
	version, _, _ := strings.Cut(strings.TrimPrefix(string(server), "Redis server "), " ")
	busy, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(busy), " ")
	return fmt.Sprintf("The library of commit %s; redis-server %s; %s, %d cores, %s; load %s at the end. The run took %.0f minutes.\n",
		commit, strings.TrimPrefix(version, "v="), processor(), runtime.NumCPU(), runtime.Version(), load, took.Minutes())
}

// processor is what the system calls it.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// writeTable puts a run into the document.
func writeTable(text string) error {
	root, err := codeedit.Root()
	if err != nil {
		return err
	}
	file := filepath.Join(root, document)
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(page), begins)
	_, after, closed := strings.Cut(rest, ends)
	if !found || !closed {
		return fmt.Errorf("failover: %s has no place for the table", document)
	}
	return os.WriteFile(file, []byte(before+begins+"\n"+text+ends+after), 0o644)
}
