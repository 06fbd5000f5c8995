package javamatrix

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/redisson/wire"
)

const details = "../../../docs/dev/tables/matrix.md"

const detailsHead = "# Redisson by server, pair by pair\n\nWritten by `make test-matrix FLAGS=-write`, not by hand.\n" + `
The details of the tables in [the README](../../../README.md#which-redisson-which-server), which says what the proof is. To look at a
part only, and to see that a script with one wrong byte is found:

    make test-matrix FLAGS='-versions newest -servers redis-8.0,valkey-8'
    make test-matrix FLAGS='-versions 4.7.0 -servers redis-7.0 -altered'

The servers come from packages of Debian and of Python's index, by the mirrors that the machine is set up for.

On the wire, what differs between any two runs (owners, ids of latches, times that pass) is evened out before things are
compared. *Equal* are the scenarios without any difference. *Justified* are those whose only differences are in the list
[below](#justified-differences); of a release that sends its scripts as text, these are all that use one. *Different* must
be 0.

A wake-up is the time from the call of unlock in one language to the return of lock in the other: the median of some rounds, on
a machine as busy as the load averages say. From Java to Go, the way of the request to the JVM is part of it.
`

const justifiedHead = `What may differ, why, and in how many of the scenarios it did. The first rows are forms that older releases of Redisson
have. What the scripts do to the lock is the same in all of them, so that old and new clients share their locks.
`

// pages renders the run to the pages' texts, by file.
func (r *run) pages() (map[string]string, error) {
	text, err := os.ReadFile(readme)
	if err != nil {
		return nil, err
	}
	start, err := r.readmeWith(string(text))
	return map[string]string{details: r.details(), readme: start}, err
}

// mapped is what javakinds.TestBesideAMapper shows, with WithRedisson set to the release.
const mapped = "4.7.0, 3.37.0, 3.20.0, 3.16.8"

func (r *run) details() string {
	var b strings.Builder
	b.WriteString(detailsHead + "\n" + facts(r.Date, r.Machine, r.Took) + "\n")
	r.missing(&b)
	b.WriteString("## Overview\n\n")
	r.overview(&b)
	b.WriteString("\n## What differs\n\n")
	r.differences(&b)
	b.WriteString("\n## Pair by pair\n\n")
	b.WriteString(line("Redisson", "server", "wire: equal", "justified", "different", "behaviours shown", "Go wakes Java", "Java wakes Go"))
	b.WriteString(rule(8))
	for _, p := range r.Pairs {
		b.WriteString(r.row(p))
	}
	b.WriteString("\nThe behaviours are, by their names in integration/redisson/interop: " + strings.Join(r.Behaviours, ", ") + ".\n")
	b.WriteString("\n## Justified differences\n\n")
	b.WriteString(justifiedHead + "\n")
	r.justified(&b)
	r.severalDetails(&b)
	r.kindsDetails(&b)
	return b.String()
}

// ran is the sentence on the README about the run.
func (r *run) ran() string {
	servers := strings.Join(titles(r.Servers), ", ")
	if i := strings.LastIndex(servers, ", "); i >= 0 {
		servers = servers[:i] + " and" + servers[i+1:]
	}
	text := "Each release of this table was tried with " + servers + ", on " + r.Date
	if r.Newest != "" {
		text += ", when the newest Redisson was " + r.Newest
	}
	return text + ":\n\n"
}

func facts(date string, m machine, took time.Duration) string {
	text := fmt.Sprintf("Run on %s on %s with %d cores, %s, Java %s", date, m.System, m.Cores, m.Go, m.Java)
	if m.LoadBefore != "" {
		text += fmt.Sprintf("; load average %s before, %s at the end", m.LoadBefore, m.LoadAtTheEnd)
	}
	return text + fmt.Sprintf(".\nIt took %.0f minutes.\n", took.Minutes())
}

// missing lists what was asked for and could not be had.
func (r *run) missing(b *strings.Builder) {
	var all []string
	for _, s := range r.Servers {
		if s.Missing != "" {
			all = append(all, s.Name+": "+s.Missing)
		}
	}
	for _, u := range r.Unbuilt {
		all = append(all, "Redisson "+u)
	}
	if r.NoNewest != "" {
		all = append(all, "the newest Redisson: "+r.NoNewest)
	}
	if len(all) == 0 {
		return
	}
	b.WriteString("## Missing\n\n")
	for _, m := range all {
		b.WriteString("- " + m + "\n")
	}
	b.WriteString("\n")
}

func (r *run) overview(b *strings.Builder) {
	cells := append([]string{"Redisson"}, titles(r.Servers)...)
	topologies := severalTopologies
	if r.Several == nil {
		topologies = nil
	}
	for _, topology := range topologies {
		cells = append(cells, string(topology))
	}
	b.WriteString(line(cells...) + rule(len(cells)))
	for _, version := range r.releases() {
		cells = []string{version}
		for _, s := range r.Servers {
			cell := "missing"
			for _, p := range r.Pairs {
				if p.Redisson == version && p.Server == s.Name {
					cell = p.verdict()
				}
			}
			cells = append(cells, cell)
		}
		for _, topology := range topologies {
			cells = append(cells, r.verdictOf(version, topology))
		}
		b.WriteString(line(cells...))
	}
}

func (s server) title() string {
	if s.Version == "" {
		return s.Name
	}
	return s.Version
}

func titles(servers []server) (all []string) {
	for _, s := range servers {
		all = append(all, s.title())
	}
	return all
}

const verdictRed = "**RED**"

func (p *pair) verdict() string {
	if p.red() {
		return verdictRed
	}
	return "works"
}

// releases are those that were played, in their order.
func (r *run) releases() (all []string) {
	for _, p := range r.Pairs {
		if !slices.Contains(all, p.Redisson) {
			all = append(all, p.Redisson)
		}
	}
	return all
}

// rowHead is the part of a row that does not depend on the results.
func (r *run) rowHead(p *pair) string {
	title, servers := p.Server, r.Servers
	if p.Topology != "" && r.Several != nil {
		servers = r.Several.Servers
	}
	if p.Kind != "" && r.Kinds != nil {
		servers = r.Kinds.Servers
	}
	for _, s := range servers {
		if s.Name == p.Server {
			title = s.title()
		}
	}
	head := fmt.Sprintf("| %s | %s |", p.Redisson, title)
	if more := cmp.Or(string(p.Topology), p.Kind); more != "" {
		head += fmt.Sprintf(" %s |", more)
	}
	return head
}

func (r *run) row(p *pair) string {
	different := strconv.Itoa(len(p.Different))
	if p.Ended != "" {
		different += ", given up"
	}
	if n := len(p.Unplayed); n > 0 {
		different += fmt.Sprintf(", %d failed", n)
	}
	if p.Ended != "" || len(p.Different)+len(p.Unplayed)+len(p.Unused) > 0 {
		different = "**" + different + "**"
	}
	shown := strconv.Itoa(p.Passed)
	if n := len(p.Failed); n > 0 {
		shown += fmt.Sprintf(", **%d failed**", n)
	}
	return r.rowHead(p) + strings.TrimPrefix(
		line(strconv.Itoa(p.Equal), strconv.Itoa(p.Justified), different, shown, delay(p.GoWakesJava), delay(p.JavaWakesGo)), "|")
}

func delay(d time.Duration) string {
	if d == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// justified lists the justified differences, and for each release in how many scenarios they occurred.
func (r *run) justified(b *strings.Builder) {
	cells := append([]string{"difference", "why"}, r.releases()...)
	b.WriteString(line(cells...) + rule(len(cells)))
	for _, d := range wire.Justified() {
		cells := []string{d.Name, d.Reason}
		for _, version := range r.releases() {
			cells = append(cells, counted(r.Pairs, func(p *pair) bool { return p.Redisson == version }, d.Name))
		}
		b.WriteString(line(cells...))
	}
}

func (r *run) differences(b *strings.Builder) {
	if !r.red() {
		b.WriteString("Nothing, apart from the [justified differences](#justified-differences).\n")
		return
	}
	for _, u := range r.Unbuilt {
		fmt.Fprintf(b, "The peer does not build: Redisson %s.\n\n", u)
	}
	for _, p := range r.all() {
		if !p.red() {
			continue
		}
		fmt.Fprintf(b, "### %s\n\n", strings.Trim(strings.ReplaceAll(r.rowHead(p), " | ", " on "), "| "))
		if p.Ended != "" {
			fmt.Fprintf(b, "It was given up at: %s.\n\n", p.Ended)
		}
		for _, d := range p.Different {
			fmt.Fprintf(b, "In the scenario %q:\n\n```\n%s```\n\n", d.Scenario, d.What)
		}
		for _, name := range p.Unplayed {
			fmt.Fprintf(b, "The scenario %q failed.\n\n", name)
		}
		for _, name := range p.Unused {
			fmt.Fprintf(b, "The justified difference %q was not there.\n\n", name)
		}
		for _, name := range p.Failed {
			fmt.Fprintf(b, "The behaviour %s failed.\n\n", name)
		}
	}
}

func line(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }
func rule(columns int) string     { return "|" + strings.Repeat("---|", columns) + "\n" }

// expected returns how many scenarios and behaviours a pair has in a whole run.
func expected() (scenarios, behaviours int) {
	whole := inFull()
	return len(whole.scenarios), len(whole.behaviours)
}

// Between these marks the README has the run's summary.
const (
	readme = "../../../README.md"
	begins = "<!-- written by make test-matrix FLAGS=-write -->\n"
	ends   = "<!-- end of what make test-matrix writes -->\n"
)

// readmeWith is the README with the run's summary in its place.
func (r *run) readmeWith(text string) (string, error) {
	before, rest, found := strings.Cut(text, begins)
	_, after, closed := strings.Cut(rest, ends)
	if !found || !closed {
		return "", fmt.Errorf("%s has no place for what the matrix says", readme)
	}
	return before + begins + "\n" + r.summary() + "\n" + ends + after, nil
}

// summary has a row for each topology, with the releases that work there with every server, and one for each other lock object.
func (r *run) summary() string {
	var b strings.Builder
	b.WriteString(r.ran())
	b.WriteString(line("servers", "URL", "proven with Redisson") + rule(3))
	works := func(verdict func(version string) string) string {
		var all []string
		for _, version := range r.releases() {
			if verdict(version) == "works" {
				all = append(all, version)
			}
		}
		if all == nil {
			return "none"
		}
		return strings.Join(all, ", ")
	}
	b.WriteString(line("one", "`redis://` `rediss://`", works(func(version string) string {
		for _, p := range r.Pairs {
			if p.Redisson == version && p.red() {
				return p.verdict()
			}
		}
		return "works"
	})))
	if r.Several != nil {
		for _, topology := range severalTopologies {
			b.WriteString(line(string(topology), "`redis+"+string(topology)+"://`", works(func(version string) string { return r.verdictOf(version, topology) })))
		}
	}
	r.Kinds.summary(&b)
	return b.String()
}
