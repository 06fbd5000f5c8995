package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/simulation"
)

// tries are how often a smaller play may go well before it counts as one without the violation. A play without one
// caller runs the others in another order, which alone may hide the defect.
const tries = 5

// shrinker makes a plan smaller while the same rule is broken.
type shrinker struct {
	player player
	rule   string
	until  time.Time // no play begins after it

	// The smallest play so far.
	plan   simulation.Plan
	result *simulation.Result
	plays  int
	err    error
}

// shrink makes the plan, which broke the rule with this result, as small as it can.
func (s *shrinker) shrink(ctx context.Context, plan simulation.Plan, result *simulation.Result) error {
	s.plan, s.result = plan, result
	before := s.size()
	s.shorten(ctx)
	for again := true; again && s.err == nil; {
		was := len(s.plan.WithoutFaults) + len(s.plan.WithoutCallers)
		minimize(left(len(plan.Faults), s.plan.WithoutFaults), func(kept []int) bool {
			smaller := s.plan
			smaller.WithoutFaults = left(len(plan.Faults), kept)
			return s.breaks(ctx, smaller)
		})
		minimize(left(len(plan.Callers), s.plan.WithoutCallers), func(kept []int) bool {
			smaller := s.plan
			smaller.WithoutCallers = left(len(plan.Callers), kept)
			return s.breaks(ctx, smaller)
		})
		s.shorten(ctx)
		again = len(s.plan.WithoutFaults)+len(s.plan.WithoutCallers) > was
	}
	late := ""
	if time.Now().After(s.until) {
		late = ", and the time was up"
	}
	fmt.Printf("Shrunk from %s to %s in %d plays%s.\n", before, s.size(), s.plays, late)
	return s.err
}

// shorten ends the play soon after the rule is broken. The faults behind that do not strike.
func (s *shrinker) shorten(ctx context.Context) {
	i := slices.IndexFunc(s.result.Violations, func(v string) bool { return simulation.Rule(v) == s.rule })
	at, known := timeOf(s.result.Violations[i])
	if at += time.Second; !known || at.Round(time.Second) >= s.plan.Lasts {
		return
	}
	shorter := s.plan
	shorter.Lasts = at.Round(time.Second)
	shorter.WithoutFaults = nil
	for f := range s.plan.Faults {
		if s.plan.Faults[f].At > shorter.Lasts || slices.Contains(s.plan.WithoutFaults, f) {
			shorter.WithoutFaults = append(shorter.WithoutFaults, f)
		}
	}
	s.breaks(ctx, shorter)
}

// breaks reports whether a plan breaks the rule, and keeps it if it does.
func (s *shrinker) breaks(ctx context.Context, plan simulation.Plan) bool {
	for range tries {
		if s.err != nil || time.Now().After(s.until) {
			return false
		}
		result, err := s.player.play(ctx, plan, 0)
		s.plays++
		if err != nil {
			s.err = err
			return false
		}
		if slices.ContainsFunc(result.Violations, func(v string) bool { return simulation.Rule(v) == s.rule }) {
			s.plan, s.result = plan, result
			fmt.Fprintf(os.Stderr, "%s\n", s.size())
			return true
		}
	}
	return false
}

func (s *shrinker) size() string {
	return fmt.Sprintf("%d faults, %d callers, %v", len(s.plan.Faults)-len(s.plan.WithoutFaults),
		len(s.plan.Callers)-len(s.plan.WithoutCallers), s.plan.Lasts)
}

// left returns the numbers below n that are not in without.
func left(n int, without []int) (kept []int) {
	for i := range n {
		if !slices.Contains(without, i) {
			kept = append(kept, i)
		}
	}
	return kept
}

// minimize leaves out parts of a list, halves first and then smaller ones, while the rest still fails. It returns a
// list from which no single element can go.
func minimize(list []int, fails func(list []int) bool) []int {
	for size := (len(list) + 1) / 2; size > 0 && len(list) > 0; {
		smaller := false
		for from := 0; from < len(list); {
			rest := slices.Concat(list[:from], list[min(from+size, len(list)):])
			if fails(rest) {
				list, smaller = rest, true
			} else {
				from += size
			}
		}
		if size == 1 && !smaller {
			break
		}
		size = max(1, min(size/2, (len(list)+1)/2))
	}
	return list
}

// timeOf reads the virtual time of a violation.
func timeOf(violation string) (time.Duration, bool) {
	_, rest, _ := strings.Cut(violation, " at ")
	text, _, _ := strings.Cut(rest, ": ")
	at, err := time.ParseDuration(text)
	return at, err == nil
}
