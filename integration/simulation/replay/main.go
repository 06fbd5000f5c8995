// Command replay plays a seed of the simulation again, shows the history that led to a broken rule, and makes the play
// smaller.
//
//	go run ./simulation/replay SEED [flags]
//
// It plays in a WebAssembly machine in which the same seed and the same schedule give the same history each time, at about
// a twentieth of the speed of TestSeeds. There goroutines run in parallel. Where a rule is broken only if two of them run
// in a certain order in one instant, the command draws that order anew with each schedule, and plays one after the other
// until the rule is broken again. It then prints the command that repeats exactly this play.
//
// With -shrink it first plays natively, which is fast, and leaves out faults and callers while the rule is broken.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/kit/codeedit"
	"github.com/rlock-go/redisson/integration/simulation"
)

type options struct {
	schedule  uint64
	scheduled bool // the schedule was given
	limit     time.Duration
	shrink    bool
	lines     int
	overlay   string
	twice     int
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var o options
	flags := flag.NewFlagSet("replay SEED", flag.ContinueOnError)
	flags.Uint64Var(&o.schedule, "schedule", 0, "the order within instants; without it, one after the other until a rule is broken")
	flags.DurationVar(&o.limit, "for", 10*time.Minute, "how long to look for a schedule, and how long to shrink")
	flags.BoolVar(&o.shrink, "shrink", false, "first leave out faults and callers while the same rule is broken")
	flags.IntVar(&o.lines, "lines", 60, "how many `lines` of the history to print for each violation; 0 is all")
	flags.StringVar(&o.overlay, "overlay", "", "a `file` for the overlay of go build, to play changed code")
	flags.IntVar(&o.twice, "twice", 0, "instead: play so many seeds from this one on twice, and compare their histories")
	if len(args) == 0 {
		flags.Usage()
		return errors.New("there is no seed")
	}
	seed, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return fmt.Errorf("the seed comes first, and the flags follow: %w", err)
	}
	plan := simulation.Draw(seed)
	plan.Flags(flags)
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	flags.Visit(func(f *flag.Flag) { o.scheduled = o.scheduled || f.Name == "schedule" })

	root, err := codeedit.Root()
	if err != nil {
		return err
	}
	folder := filepath.Join(root, "integration", ".cache", "replay")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	ctx := context.Background()
	if o.shrink {
		if plan, err = smaller(ctx, root, folder, plan, o); err != nil {
			return err
		}
	}
	h, err := newHost(ctx, root, folder, o.overlay)
	if err != nil {
		return err
	}
	if o.twice > 0 {
		return twice(ctx, h, plan, o.twice)
	}
	return replay(ctx, h, plan, o)
}

// smaller plays the plan natively until it breaks a rule, and shrinks it.
func smaller(ctx context.Context, root, folder string, plan simulation.Plan, o options) (simulation.Plan, error) {
	n, err := newNative(ctx, root, folder, o.overlay)
	if err != nil {
		return plan, err
	}
	defer os.Remove(n.binary)
	until := time.Now().Add(o.limit)
	result, plays, err := search(ctx, n, plan, until)
	if err != nil {
		return plan, err
	}
	if plays > 1 {
		fmt.Printf("A rule was broken in play %d, and in none before: it takes a certain order of goroutines in one instant.\n", plays)
	}
	s := shrinker{player: n, rule: simulation.Rule(result.Violations[0]), until: until}
	err = s.shrink(ctx, plan, result)
	return s.plan, err
}

// search plays a plan, with one schedule after the other, until a rule is broken. It returns the number of plays.
func search(ctx context.Context, p player, plan simulation.Plan, until time.Time) (*simulation.Result, int, error) {
	for i := 0; ; i++ {
		result, err := p.play(ctx, plan, uint64(i))
		if err != nil || len(result.Violations) > 0 {
			return result, i + 1, err
		}
		if time.Now().After(until) {
			return nil, i + 1, fmt.Errorf("seed %d broke no rule in %d plays", plan.Seed, i+1)
		}
	}
}

// replay looks for a schedule with which the plan breaks a rule, and prints what happened.
func replay(ctx context.Context, h *host, plan simulation.Plan, o options) error {
	schedule := o.schedule
	var result *simulation.Result
	var err error
	if o.scheduled {
		result, err = h.play(ctx, plan, schedule)
	} else {
		var plays int
		result, plays, err = search(ctx, h, plan, time.Now().Add(o.limit))
		schedule = uint64(plays - 1)
	}
	if err != nil {
		return err
	}
	if len(result.Violations) == 0 {
		fmt.Println("No rule is broken.")
		return nil
	}
	if schedule > 0 && !o.scheduled {
		fmt.Printf("A rule was broken with schedule %d, and with none before: it depends on which goroutine runs first in one\n"+
			"instant. The play below is the same each time.\n", schedule)
	}
	printHistory(os.Stdout, plan, result, o.lines)
	again := fmt.Sprintf("go run ./simulation/replay %s -schedule %d", strings.Join(plan.Args(), " "), schedule)
	if o.overlay != "" {
		again += " -overlay " + o.overlay
	}
	fmt.Printf("\nThis play again:  %s\n", again)
	return fmt.Errorf("seed %d broke a rule: %s", plan.Seed, simulation.Rule(result.Violations[0]))
}

// twice plays each of n seeds twice, for no longer than the plan lasts, and counts those whose two histories are equal.
func twice(ctx context.Context, h *host, from simulation.Plan, n int) error {
	equal := 0
	for i := range n {
		plan := simulation.Draw(from.Seed + uint64(i))
		plan.Lasts = min(plan.Lasts, from.Lasts)
		first, err := h.play(ctx, plan, 0)
		if err != nil {
			return err
		}
		second, err := h.play(ctx, plan, 0)
		if err != nil {
			return err
		}
		if first.Hash == second.Hash && len(first.Log) == len(second.Log) {
			equal++
		} else {
			fmt.Printf("seed %d: %x and %x\n", plan.Seed, first.Hash, second.Hash)
		}
	}
	fmt.Printf("%d of %d seeds had the same history twice\n", equal, n)
	if equal < n {
		return errors.New("a replay is not exact")
	}
	return nil
}
