package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// violation is a promise that was not kept.
type violation struct {
	seed uint64
	kind string
	text string // all that is needed to understand it
}

func (r *round) violate(kind, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.violateLocked(kind, format, args...)
}

func (r *round) violateLocked(kind, format string, args ...any) {
	if r.wrong[kind] {
		return // the first tells the most
	}
	r.wrong[kind] = true
	r.tally.add(nViolations, 1)
	at := float64(now()-r.began) / 1e6
	var b strings.Builder
	fmt.Fprintf(&b, "VIOLATION (%s) in round %d, theme %q, at %.1f ms:\n%s\n", kind, r.seed, r.theme.name, at, fmt.Sprintf(format, args...))
	fmt.Fprintf(&b, "lock %s, owners %v, shared %v\n", r.name, shorts(r.owners), r.shared)
	fmt.Fprintf(&b, "script and faults, in ms:\n  %s\n", strings.Join(tail(r.eventLog, 300), "\n  "))
	for _, c := range r.clients {
		var lines []string
		for _, w := range c.record() {
			if w.what != "message" {
				lines = append(lines, fmt.Sprintf("%8.1f  %v", float64(w.sent-r.began)/1e6, w))
			}
		}
		fmt.Fprintf(&b, "what passed the proxy of client %d:\n  %s\n", c.n, strings.Join(tail(lines, 400), "\n  "))
	}
	r.tell(violation{r.seed, kind, b.String()})
}

func tail(lines []string, n int) []string {
	if len(lines) > n {
		return append([]string{"..."}, lines[len(lines)-n:]...)
	}
	return lines
}

// table is the run as Markdown: what was done, what was made to fail, and how often.
func (t *tally) table(took time.Duration) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	b.WriteString("| what was done | times |\n|---|---|\n")
	for i, what := range [nCounters]string{"rounds", "calls", "holds granted", "probes of the server", "valid holds held against it", "rounds whose counts were known exactly in the end",
		"rounds whose counts were known but for uncertain calls, or not at all, for lost data and forced unlocks", "failed acquires held against the record", "unlocks of owners used once held against it", "violations"} {
		fmt.Fprintf(&b, "| %s | %d |\n", what, t.rungs[i].Load())
	}
	ways := []string{lostBefore, lostAfter, lostSilent, lateBytes, lateReply, swallowed, refused}
	fmt.Fprintf(&b, "\n| command | %s |\n|%s\n", strings.Join(ways, " | "), strings.Repeat("---|", len(ways)+1))
	for _, c := range commands {
		fmt.Fprintf(&b, "| %s |", c.name)
		for _, how := range ways {
			if n, made := t.hits[c.name+": "+how]; made {
				fmt.Fprintf(&b, " %d |", n)
			} else {
				b.WriteString(" – |")
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| what else went wrong, and theme of the round | times |\n|---|---|\n")
	for _, class := range slices.Sorted(maps.Keys(t.hits)) {
		if !slices.ContainsFunc(commands, func(c command) bool { return strings.HasPrefix(class, c.name+": ") }) {
			fmt.Fprintf(&b, "| %s | %d |\n", class, t.hits[class])
		}
	}
	return b.String() + fmt.Sprintf("\nThe run took %.0f minutes.\n", took.Minutes())
}

// tableFile has the tables of a run.
const tableFile = "endurance"

// enough is how often each class of faults must have happened in a full run.
const enough = 100

// rare are the classes that happened less often than that.
func (t *tally) rare() (classes []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, class := range required() {
		if t.hits[class] < enough {
			classes = append(classes, fmt.Sprintf("%s: %d", class, t.hits[class]))
		}
	}
	return classes
}

// required are the classes of faults that a full run must have made.
func required() (classes []string) {
	for _, t := range themes {
		for _, list := range append(slices.Collect(maps.Values(t.targets)), t.ambient) {
			for _, f := range list {
				classes = append(classes, f.command+": "+f.how)
			}
		}
		for _, e := range t.events {
			classes = append(classes, e.what)
		}
	}
	classes = append(classes, asksWhetherItRan, asksCount)
	for _, code := range codes {
		classes = append(classes, "refused with "+code)
	}
	slices.Sort(classes)
	return slices.Compact(classes)
}
