//go:build !wasip1

package simulation

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	playFor   = flag.Duration("for", 5*time.Second, "how much processor time to play seeds for")
	firstSeed = flag.Uint64("seed", 0, "the seed to begin with; 0 is a random one")
	stop      = flag.Bool("stop", true, "end with the first seed that breaks a rule")
	only      = flag.String("topology", "", "play the seeds of this topology only")
	known     = flag.Int("known", 1, "how often each known seed is played: goroutines run in parallel, so that one play may go well by chance")
)

// TestSeeds plays one seed after the other until the processor time is used up or, unless -stop=false, a seed breaks a rule.
func TestSeeds(t *testing.T) {
	seed := *firstSeed
	if seed == 0 {
		seed = rand.Uint64N(1e9) + rand.Uint64N(2)*DenseFrom
	}
	if *only != "" && !slices.Contains(Topologies, Topology(*only)) {
		t.Fatalf("there is no topology %q; there are %q", *only, Topologies)
	}
	fmt.Printf("from seed %d on\n", seed)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // a play leaves much and keeps little: a sixth more seeds a minute
	sum, played := map[Topology]*Result{}, map[Topology]int{}
	for begun := processorTime(t); processorTime(t)-begun < *playFor && !(*stop && t.Failed()); seed++ {
		if *only != "" && topologyOf(seed) != Topology(*only) {
			continue
		}
		plan := Draw(seed)
		if sum[plan.Topology] == nil {
			sum[plan.Topology] = newResult()
		}
		sum[plan.Topology].Add(judge(t, plan))
		played[plan.Topology]++
	}
	for _, on := range Topologies {
		if r := sum[on]; r != nil {
			r.print(fmt.Sprintf("%s: %d seeds", on, played[on]))
		}
	}
	if len(played) == 0 {
		t.Error("no seed was played")
	}
}

func (r *Result) print(title string) {
	fmt.Printf("%s, virtual %v, %d calls, %d entries, %d failovers, %d faults, %d commands, %d events\n", title,
		r.Virtual.Round(time.Second), r.Calls, r.Entries, r.Failovers, r.Faults, r.Commands, r.Events)
	if !testing.Verbose() {
		return
	}
	for _, k := range r.Names() {
		fmt.Printf("  %s: %d\n", k, r.Outcomes[k])
	}
	for _, k := range slices.Sorted(maps.Keys(r.Allowed)) {
		fmt.Printf("  allowed: %s: %d\n", k, r.Allowed[k])
	}
	for _, k := range slices.Sorted(maps.Keys(r.Longest)) {
		fmt.Printf("  longest: %s: %v\n", k, r.Longest[k])
	}
}

// TestKnownSeeds plays the seeds that once broke a rule.
func TestKnownSeeds(t *testing.T) {
	file, err := os.Open("testdata/seeds")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	played := 0
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		words, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(words) == "" {
			continue
		}
		plan, err := ParsePlan(strings.Fields(words))
		if err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		for range *known {
			judge(t, plan)
		}
		played++
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if played == 0 {
		t.Error("testdata/seeds has no seed")
	}
}

// judge plays a plan, and fails the test if a rule is broken.
func judge(t *testing.T, plan Plan) *Result {
	t.Helper()
	again := "cd integration && go run ./simulation/replay " + strings.Join(plan.Args(), " ")
	hung := func() {
		fmt.Printf("seed %d at an unknown time: hang: %s\n", plan.Seed, again)
		_ = pprof.Lookup("goroutine").WriteTo(os.Stdout, 2)
		os.Exit(2)
	}
	defer notHanging(t, hung)()
	// A panic ends the process, and only the labels of the goroutines in its trace can name the seed.
	t.Setenv("GODEBUG", "tracebacklabels=1")
	var r *Result
	pprof.Do(t.Context(), pprof.Labels("seed", strconv.FormatUint(plan.Seed, 10)), func(context.Context) { r = Play(t, plan) })
	for _, v := range r.Violations {
		t.Error(v)
	}
	if len(r.Violations) > 0 {
		t.Errorf("seed %d broke %d rules on %s. Its history: %s", plan.Seed, len(r.Violations), plan.Topology, again)
	}
	return r
}

// notHanging calls hung if the process does nothing for two minutes, or too much before the returned function is called. A
// goroutine that waits for a mutex stops the bubble's clock, and then no virtual time tells that nothing moves. Real time alone
// would not tell it either, since a busy machine may leave a play without a processor.
func notHanging(t *testing.T, hung func()) (done func()) {
	const every, least, most = 20 * time.Second, 100 * time.Millisecond, 2 * time.Minute // the last two of processor time
	tick, end := time.NewTicker(every), make(chan struct{})
	go func() {
		began := processorTime(t)
		for idle, last := 0, began; idle < 6 && last-began < most; {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			now := processorTime(t)
			if idle++; now-last > least {
				idle = 0
			}
			last = now
		}
		hung()
	}()
	return func() {
		tick.Stop()
		close(end)
	}
}

func processorTime(t *testing.T) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
