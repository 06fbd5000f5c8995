package simulation

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

// ReplayMark stands before the result of a play that the command replay asked for.
const ReplayMark = "\x16result "

// ParsePlan draws the plan of a seed, which is the first word, and takes from it whatever the flags behind it say.
func ParsePlan(words []string) (Plan, error) {
	if len(words) == 0 {
		return Plan{}, errors.New("there is no seed")
	}
	seed, err := strconv.ParseUint(words[0], 10, 64)
	if err != nil {
		return Plan{}, fmt.Errorf("the seed: %w", err)
	}
	plan := Draw(seed)
	flags := flag.NewFlagSet("a plan", flag.ContinueOnError)
	plan.Flags(flags)
	if err := flags.Parse(words[1:]); err != nil {
		return Plan{}, err
	}
	if flags.NArg() > 0 {
		return Plan{}, fmt.Errorf("%q is neither a flag nor its value", flags.Arg(0))
	}
	return plan, nil
}

// Flags adds the flags that make the plan smaller.
func (p *Plan) Flags(flags *flag.FlagSet) {
	flags.Func("without-faults", "leave out the `faults` with these indices, such as 0-3,7", indices(&p.WithoutFaults, len(p.Faults)))
	flags.Func("without-callers", "leave out the `callers` with these indices", indices(&p.WithoutCallers, len(p.Callers)))
	flags.BoolFunc("former", "play as before keys got other types and replies were lost at the moments that matter", func(string) error {
		p.Former, p.Untracked = true, false
		former := drawFormer(p.Seed)
		p.Faults, p.Callers = former.Faults, former.Callers
		return nil
	})
	flags.DurationVar(&p.Lasts, "lasts", p.Lasts, "how long the callers call")
}

// Args returns the words from which ParsePlan makes the plan.
func (p Plan) Args() []string {
	words := []string{strconv.FormatUint(p.Seed, 10)}
	if p.Former {
		words = append(words, "-former")
	}
	if len(p.WithoutFaults) > 0 {
		words = append(words, "-without-faults", ranges(p.WithoutFaults))
	}
	if len(p.WithoutCallers) > 0 {
		words = append(words, "-without-callers", ranges(p.WithoutCallers))
	}
	if p.Lasts != Draw(p.Seed).Lasts {
		words = append(words, "-lasts", p.Lasts.String())
	}
	return words
}

// indices returns the reader of a list like 0-3,7 of numbers below n.
func indices(list *[]int, n int) func(text string) error {
	return func(text string) error {
		*list = nil
		for part := range strings.SplitSeq(text, ",") {
			from, to, isRange := strings.Cut(part, "-")
			if !isRange {
				to = from
			}
			first, err := strconv.Atoi(from)
			if err != nil {
				return err
			}
			last, err := strconv.Atoi(to)
			if err != nil {
				return err
			}
			if first > last || last >= n {
				return fmt.Errorf("%s is not within 0-%d", part, n-1)
			}
			for i := first; i <= last; i++ {
				*list = append(*list, i)
			}
		}
		return nil
	}
}

// ranges writes numbers, which are in ascending order, as a list like 0-3,7.
func ranges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := strconv.Itoa(list[i])
		if j > i {
			part += "-" + strconv.Itoa(list[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// Rule names the rule that a violation breaks, without the seed and the time. One defect breaks the same rule
// wherever it shows.
func Rule(violation string) string {
	_, text, found := strings.Cut(violation, ": ")
	if !found {
		return violation
	}
	if rule, _, found := strings.Cut(text, ":"); found && !strings.Contains(rule, " ") {
		return rule
	}
	// A violation without a name is known by its words that are no names and no numbers.
	var words []string
	for word := range strings.FieldsSeq(text) {
		if !strings.ContainsAny(word, "0123456789") {
			words = append(words, word)
		}
	}
	return strings.Join(words[:min(6, len(words))], " ")
}

// stacks returns the stacks of all goroutines: where each caller waits.
func stacks() string {
	text := make([]byte, 1<<20)
	return string(text[:runtime.Stack(text, true)])
}
