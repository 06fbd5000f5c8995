package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/simulation"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// printHistory prints each violation, the events before the first one that are about the same names, and where every
// goroutine of the library was then. The other violations mostly follow from the first.
func printHistory(w io.Writer, plan simulation.Plan, r *simulation.Result, lines int) {
	printPlan(w, plan)
	h := read(r.Log)
	if len(r.Violations) > 1 {
		fmt.Fprintf(w, "\nThe first of %d broken rules is shown below. Those after it:\n", len(r.Violations))
		for _, v := range r.Violations[1:] {
			fmt.Fprintf(w, "  %s\n", h.names(v))
		}
	}
	fmt.Fprintf(w, "\nWhere the goroutines of the library were when the first rule was broken:\n")
	printStacks(w, r.Stacks)
	fmt.Fprintf(w, "\nWhat led to it, with the seconds since the play began and since the line above:\n")
	h.before(w, r.Violations[0], lines)
	fmt.Fprintf(w, "\n%s\n", h.names(r.Violations[0]))
}

// printPlan prints the servers, and the faults and callers that are not left out.
func printPlan(w io.Writer, plan simulation.Plan) {
	fmt.Fprintf(w, "seed %d: %s, %d clients, sockets of the system %v, %v\n", plan.Seed, plan.Topology, len(plan.Clients), plan.Native, plan.Lasts)
	for i, c := range plan.Callers {
		if !slices.Contains(plan.WithoutCallers, i) {
			fmt.Fprintf(w, "  caller %d: client %d, %+v\n", i, c.Client, plan.Objects[c.Object])
		}
	}
	for i, f := range plan.Faults {
		if !slices.Contains(plan.WithoutFaults, i) {
			fmt.Fprintf(w, "  fault %d at %v: %s for %v\n", i, f.At, f.What, f.Lasts)
		}
	}
}

// history is what happened, in order.
type history struct {
	events []event
	owners *strings.Replacer // of clients' ids by short names
}

type event struct {
	at   time.Duration
	text string
}

var (
	id      = regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)
	sent    = regexp.MustCompile(`^10\.([12])\.0\.(\d+):\d+>`)                                                     // by a client, or by Java
	ones    = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+|\b[0-9a-f]{32}\b|\bc\d+w\d+\.\d+`) // owners, latches, callers
	objects = regexp.MustCompile(`\bobject\d+\b`)
)

// read takes the history apart. Clients' ids, which they draw, become the names of their hosts, and the digests of
// scripts the names of their files.
func read(log []string) *history {
	var pairs []string
	for _, s := range luasrc.Scripts() {
		pairs = append(pairs, s.SHA1, s.Name+".lua")
	}
	seen := map[string]bool{}
	clients := map[string]int{}
	h := &history{}
	for _, line := range log {
		ns, text, _ := strings.Cut(line, " ")
		at, err := strconv.ParseInt(ns, 10, 64)
		if err != nil {
			continue
		}
		h.events = append(h.events, event{time.Duration(at), text})
		host := sent.FindStringSubmatch(text)
		for _, found := range id.FindAllString(text, -1) {
			if host != nil && !seen[found] {
				seen[found] = true
				name := map[string]string{"1": "client", "2": "java"}[host[1]] + host[2]
				clients[name]++
				if n := clients[name]; n > 1 {
					name += "." + strconv.Itoa(n)
				}
				pairs = append(pairs, found, name)
			}
		}
	}
	h.owners = strings.NewReplacer(pairs...)
	return h
}

func (h *history) names(text string) string { return h.owners.Replace(text) }

// before prints the last events before a violation that are about the objects which it names, and all that callers
// were told and all faults among them. If it names an owner, a latch or a caller too, the events about that come first.
func (h *history) before(w io.Writer, violation string, lines int) {
	end := slices.IndexFunc(h.events, func(e event) bool { return e.text == "VIOLATION "+violation })
	if end < 0 {
		end = len(h.events)
	}
	if named := ones.FindAllString(violation, -1); len(named) > 0 && lines > 0 {
		h.print(w, h.about(h.events[:end], named), lines/2)
		fmt.Fprintln(w, "  And whatever happened last:")
		lines /= 2
	}
	h.print(w, h.about(h.events[:end], objects.FindAllString(violation, -1)), lines)
}

// about returns the events with one of these names, the replies to them, and those that are no command. Without names
// it returns all.
func (h *history) about(events []event, names []string) (shown []event) {
	open := map[string]bool{} // connections on which a reply to one of them is to come
	for _, e := range events {
		conn, isReply := "", false
		if i := strings.IndexAny(e.text, "<>"); i > 0 && strings.HasPrefix(e.text, "10.") {
			conn, isReply = e.text[:i], e.text[i] == '<'
		}
		mine := len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return strings.Contains(e.text, name) })
		switch {
		case strings.Contains(e.text, `\r\npong\r\n`):
			mine = false
		case mine && conn != "" && !isReply:
			open[conn] = true
		case isReply && open[conn]:
			mine = true
			delete(open, conn)
		case conn == "":
			mine = true
		}
		if mine {
			shown = append(shown, e)
		}
	}
	return shown
}

// print prints the last of some events; all if lines is 0.
func (h *history) print(w io.Writer, shown []event, lines int) {
	if lines > 0 {
		shown = shown[max(0, len(shown)-lines):]
	}
	var last time.Duration
	for _, e := range shown {
		fmt.Fprintf(w, "  %12.6f %+11.6f  %s\n", e.at.Seconds(), (e.at - last).Seconds(), h.names(e.text))
		last = e.at
	}
}

// printStacks prints the frames of the library, the innermost first, for each goroutine that has one. Equal stacks are
// printed once.
func printStacks(w io.Writer, stacks string) {
	var order []string
	count := map[string]int{}
	for goroutine := range strings.SplitSeq(stacks, "\n\n") {
		head, frames, _ := strings.Cut(goroutine, "\n")
		_, state, _ := strings.Cut(head, "[")
		state, _, _ = strings.Cut(state, "]:")
		all := strings.Split(frames, "\n")
		text := ""
		for i := 0; i+1 < len(all); i += 2 {
			place, _, _ := strings.Cut(strings.TrimSpace(all[i+1]), " +0x")
			_, place, inside := strings.Cut(place, "/redisson/")
			function := all[i][strings.LastIndex(all[i], "/")+1:]
			function, _, _ = strings.Cut(function, "({")
			function, _, _ = strings.Cut(function, "(0x")
			if inside && !strings.HasPrefix(place, "rlocktest/") {
				text += fmt.Sprintf("      %-60s %s\n", place, strings.TrimPrefix(function, "created by "))
			}
		}
		if text == "" {
			continue
		}
		text = "    [" + state + "]\n" + text
		if count[text]++; count[text] == 1 {
			order = append(order, text)
		}
	}
	for _, text := range order {
		if count[text] > 1 {
			fmt.Fprintf(w, "    %d goroutines:\n", count[text])
		}
		fmt.Fprint(w, text)
	}
}
