// Package alike plays scripts in which Go and Java call one object's methods. Where each side plays a script alone, it
// compares what they leave on a server after each step.
package alike

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/testbed"
)

// State is what a server has after a step, with owners named in order of appearance.
type State struct {
	Step  string           // what was done
	After time.Duration    // since the scene began; 0: it does not matter
	Exact []string         // what must be the same
	Times map[string]int64 // TTLs and the like, in ms; -1: no expiry
}

// Compare returns what differs after each step. Times may differ by the tolerance, and by how much longer one side's steps
// took than the other's.
func Compare(java, golang []State, tolerance time.Duration) [][]string {
	if len(java) != len(golang) {
		return [][]string{{fmt.Sprintf("%d steps and %d", len(java), len(golang))}}
	}
	all := make([][]string, len(java))
	slack, last := tolerance, [2]time.Duration{}
	for i, j := range java {
		g := golang[i]
		slack += (j.After - last[0] - (g.After - last[1])).Abs()
		last = [2]time.Duration{j.After, g.After}
		all[i] = differences(j, g, slack)
	}
	return all
}

func differences(java, golang State, slack time.Duration) (all []string) {
	only := func(who string, its, others []string) {
		for _, line := range its {
			if !slices.Contains(others, line) {
				all = append(all, who+" only: "+line)
			}
		}
	}
	only("java", java.Exact, golang.Exact)
	only("go", golang.Exact, java.Exact)
	if len(all) == 0 && len(java.Exact) != len(golang.Exact) {
		all = append(all, fmt.Sprintf("java has %q, go %q", java.Exact, golang.Exact))
	}
	if j, g := slices.Sorted(maps.Keys(java.Times)), slices.Sorted(maps.Keys(golang.Times)); !slices.Equal(j, g) {
		return append(all, fmt.Sprintf("java has times of %q, go of %q", j, g))
	}
	for what, j := range java.Times {
		if g := golang.Times[what]; max(j-g, g-j) > slack.Milliseconds() || (j == -1) != (g == -1) {
			all = append(all, fmt.Sprintf("%s: java %d ms, go %d ms", what, j, g))
		}
	}
	return all
}

// Alone plays a script with these sides only, from an empty server on, and returns what was there after each line.
func (p Play) Alone(t *testing.T, name, script string, sides map[string]Side) []State {
	t.Helper()
	p.Sides, p.Sees, p.Most = sides, true, testbed.Patience
	alone := p.For(t, name)
	alone.Anew()
	alone.began = time.Now()
	alone.Run(script)
	return alone.seen
}

// Differs is an intended difference: in steps that begin with Step, lines that contain Has may differ.
type Differs struct{ Step, Has, Why string }

// Same fails t for each difference that differs does not allow, and for each of its steps in which nothing differs.
func Same(t *testing.T, java, golang []State, tolerance time.Duration, differs []Differs) {
	t.Helper()
	found := map[string]bool{}
	for i, lines := range Compare(java, golang, tolerance) {
		for _, line := range lines {
			j := slices.IndexFunc(differs, func(d Differs) bool {
				return i < len(java) && strings.HasPrefix(java[i].Step, d.Step) && strings.Contains(line, d.Has)
			})
			if j < 0 {
				t.Errorf("%d: %s: %s", i, java[min(i, len(java)-1)].Step, line)
			} else {
				found[differs[j].Step] = true
			}
		}
	}
	for _, d := range differs {
		if !found[d.Step] {
			t.Errorf("%s: nothing differs, though %s; %v", d.Step, d.Why, slices.Collect(maps.Keys(found)))
		}
	}
}
