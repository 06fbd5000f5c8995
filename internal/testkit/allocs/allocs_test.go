package allocs_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

var rewrite = flag.Bool("rewrite", false, "write table.txt anew from what is measured")

const (
	allocsFile = "table.txt"
	library    = "github.com/rlock-go/redisson/"
)

// checked are the packages whose inner loops have benchmarks.
var checked = []string{"codec", "internal/luasrc", "internal/pipeline", "pubsub", "watchdog", "rlock"}

const allocsHead = `# Allocations an operation of the library's inner loops, as their benchmarks tell them: what the test in this folder expects.
# After a change that means to change them: go test ./internal/testkit/allocs -rewrite
# Where a real server takes part, how many requests share a batch depends on the machine's mood: a fifth is added, and fewer are fine.
`

// withServer is the benchmark whose requests share batches on a real server.
const withServer = "pubsub BenchmarkSubscribeConfirmClose"

// TestAllocationsStayAsTheyWere fails if a benchmark of the library does not allocate as often as table.txt says, or
// was added or removed without its line. It says nothing about time. The benchmarks run in separate processes without
// the race detector, however this test was built.
func TestAllocationsStayAsTheyWere(t *testing.T) {
	redistest.Slow(t, "builds the packages once more")
	if *rewrite {
		// The highest of three, so that a loop that rounds up at times makes no trouble later.
		writeAllocs(t, measuredAllocs(t, func(a, b int) int { return max(a, b) }))
		return
	}
	got := measuredAllocs(t, func(a, b int) int { return min(a, b) })
	want := allowedAllocs(t)
	for _, name := range slices.Sorted(maps.Keys(got)) {
		allowed, ok := want[name]
		switch {
		case !ok:
			t.Errorf("%s: %d allocations, and no line in %s", name, got[name], allocsFile)
		case got[name] > allowed:
			t.Errorf("%s: %d allocations, %d are allowed", name, got[name], allowed)
		case got[name] < allowed && name != withServer:
			t.Errorf("%s: %d allocations, fewer than the %d of the table: keep it with -rewrite", name, got[name], allowed)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is in %s, but there is no such benchmark", name, allocsFile)
		}
	}
}

// measuredAllocs runs the benchmarks three times, each long enough for single allocations, such as a neighbour's, to
// vanish in the rounding.
func measuredAllocs(t *testing.T, choose func(a, b int) int) map[string]int {
	t.Helper()
	args := []string{"test", "-race=false", "-vet=off", "-run", "^$", "-bench", ".", "-benchmem", "-benchtime", "500x", "-count", "3"}
	for _, p := range checked {
		args = append(args, "./"+p)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = "../../.."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	all := map[string]int{}
	pkg := ""
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		line := lines.Text()
		if name, ok := strings.CutPrefix(line, "pkg: "); ok {
			pkg = strings.TrimPrefix(name, library)
		}
		fields := strings.Fields(line)
		if !strings.HasPrefix(line, "Benchmark") || len(fields) < 4 {
			continue
		}
		if fields[len(fields)-1] != "allocs/op" {
			t.Errorf("%s does not report allocations", fields[0])
			continue
		}
		n, err := strconv.Atoi(fields[len(fields)-2])
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		name := fields[0]
		if i := strings.LastIndexByte(name, '-'); i > 0 { // the number of processors
			name = name[:i]
		}
		name = pkg + " " + name
		if other, ok := all[name]; ok {
			n = choose(n, other)
		}
		all[name] = n
	}
	if len(all) == 0 {
		t.Fatalf("no benchmark in:\n%s", out)
	}
	return all
}

func allowedAllocs(t *testing.T) map[string]int {
	t.Helper()
	f, err := os.Open(allocsFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var pkg, name string
		var n int
		if _, err := fmt.Sscan(lines.Text(), &n, &pkg, &name); err != nil {
			t.Fatalf("%s: %q: %v", allocsFile, lines.Text(), err)
		}
		all[pkg+" "+name] = n
	}
	return all
}

func writeAllocs(t *testing.T, got map[string]int) {
	t.Helper()
	var b strings.Builder
	b.WriteString(allocsHead)
	for _, name := range slices.Sorted(maps.Keys(got)) {
		n := got[name]
		if name == withServer {
			n += (n + 4) / 5
		}
		fmt.Fprintf(&b, "%4d %s\n", n, name)
	}
	if err := os.WriteFile(allocsFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
