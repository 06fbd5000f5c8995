package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/kit/codeedit"
	"github.com/rlock-go/redisson/integration/kit/gate"
)

const tableFile = "failover"

// String returns a round in one line, and its violations and notes in further ones.
func (r result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %d kept, %d told as lost; each lock again after %v (%s); stood for a lease: %d of %d, without WAIT %d of %d; any lock %v, other shards %v; %d entries, %d errors; n of n %d, fewer %d, 0 %d, no WAIT %d; twice inside %d + %v",
		r.row, r.kept, r.lost, short(r.again), r.where, r.stood[0], r.released[0], r.stood[1], r.released[1], short(r.back), short(r.others),
		r.entries, r.failed, r.proofs[gate.Proven], r.proofs[gate.Fewer], r.proofs[gate.Zero], r.proofs[gate.None], r.proven, r.unproven)
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

func table(all []result) string {
	var b, more strings.Builder
	b.WriteString("| what happened | sync delay | rounds | holds kept | each lock again after: median, max | any lock, max | other shards, max | stood for a lease: WAIT, without | entries: n of n, fewer, 0, no WAIT | two inside, both n of n | two inside, others |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range parts {
		for _, w := range p.rows(true) {
			mine := slices.DeleteFunc(slices.Clone(all), func(r result) bool { return r.row != w })
			if len(mine) == 0 {
				continue
			}
			sum := added(mine)
			slices.SortFunc(mine, func(x, y result) int { return cmp.Compare(x.again, y.again) })
			fmt.Fprintf(&b, "| %s | %d s | %d | %d of %d | %s, %s | %s | %s | %s, %s | %d, %d, %d, %d | %d | %d |\n", p.kind, w.delay, len(mine),
				sum.kept, sum.kept+sum.lost, some(mine[len(mine)/2].again), some(mine[len(mine)-1].again), some(sum.back), some(sum.others),
				of(sum.stood[0], sum.released[0]), of(sum.stood[1], sum.released[1]),
				sum.proofs[gate.Proven], sum.proofs[gate.Fewer], sum.proofs[gate.Zero], sum.proofs[gate.None], sum.proven, sum.twice())
			for _, what := range slices.Sorted(maps.Keys(sum.unproven)) {
				fmt.Fprintf(&more, "\nTwo inside, %v, %s: %d.\n", w, what, sum.unproven[what])
			}
			if sum.gap > 0 {
				fmt.Fprintf(&more, "\n%s: renewals on the other shards were %v apart at most, with a third of %v.\n", p.kind, short(sum.gap), brief/3)
			}
			if p.kind == clusterMoved {
				fmt.Fprintf(&more, "\n%s: when all were released at once, the last of them had been entered after %v at most.\n", p.kind, short(sum.woken))
			}
		}
	}
	return b.String() + more.String()
}

// some returns the text of a time, or a dash for 0.
func some(d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return short(d).String()
}

// of returns the text for n of all, or a dash if all is 0.
func of(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", n, all)
}

// added returns the sum of some rounds, with the largest of their times.
func added(all []result) (sum result) {
	sum.unproven = map[string]int{}
	for _, r := range all {
		sum.back, sum.others, sum.gap, sum.woken = max(sum.back, r.back), max(sum.others, r.others), max(sum.gap, r.gap), max(sum.woken, r.woken)
		for i := range r.stood {
			sum.stood[i], sum.released[i] = sum.stood[i]+r.stood[i], sum.released[i]+r.released[i]
		}
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
var library = strings.Fields("codec pubsub rlock watchdog internal/acquire internal/command internal/extend internal/kind internal/lockstate internal/luasrc " +
	"internal/pipeline internal/redisconn internal/release internal/renew internal/section internal/state internal/topology internal/unlock internal/waiting internal/waitqueue")

// revision returns the last commit that changed the library, and whether it has changed since.
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

// circumstances describes the library, the server and the machine of this run.
func circumstances(commit string, took time.Duration) string {
	server, _ := exec.Command("redis-server", "--version").Output()
	version, _, _ := strings.Cut(strings.TrimPrefix(string(server), "Redis server "), " ")
	busy, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(busy), " ")
	return fmt.Sprintf("The library of commit %s; redis-server %s; %s, %d cores, %s; load %s at the end. The run took %.0f minutes.\n",
		commit, strings.TrimPrefix(version, "v="), processor(), runtime.NumCPU(), runtime.Version(), load, took.Minutes())
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
