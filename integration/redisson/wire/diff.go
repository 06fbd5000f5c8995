package wire

import (
	"fmt"
	"strings"
)

// compare undoes the justified differences and reports what else differs, "" for nothing. It also names the rules that
// found nothing to undo.
func compare(java, golang trace, rules []rule) (report string, unused []string) {
	java, golang = java.clone(), golang.clone()
	for _, r := range rules {
		if !r.undo(&java, &golang) {
			unused = append(unused, r.name)
		}
	}
	java.steps, golang.steps = mergeRefused(java.steps), mergeRefused(golang.steps)
	var b strings.Builder
	diffSteps(&b, java.steps, golang.steps)
	diffLines(&b, "messages", java.messages, golang.messages)
	diffLines(&b, "keys left", java.keys, golang.keys)
	return b.String(), unused
}

// mergeRefused merges one or two repetitions of a refused attempt: a waiter's clock may run ahead of the server's by a
// millisecond when a lease ends. A third one stays, since the waiter would be spinning.
func mergeRefused(steps []step) []step {
	var out []step
	again := 0
	for _, s := range steps {
		last := len(out) - 1
		if last >= 0 && s.role == "lock" && strings.HasPrefix(s.reply, "int ") && same(out[last], s) && again < 2 {
			again++
			continue
		}
		again = 0
		out = append(out, s)
	}
	return out
}

func same(a, b step) bool {
	return strings.Join(a.lines(), "\n") == strings.Join(b.lines(), "\n")
}

// diffSteps pairs the calls of both sides with the same role, lock and owner, and writes what differs in each pair.
func diffSteps(b *strings.Builder, java, golang []step) {
	for _, p := range align(java, golang) {
		switch {
		case p.golang < 0:
			fmt.Fprintf(b, "Java's call %d has no counterpart in Go:\n%s", p.java+1, indent("java", java[p.java].lines()))
		case p.java < 0:
			fmt.Fprintf(b, "Go's call %d has no counterpart in Java:\n%s", p.golang+1, indent("go  ", golang[p.golang].lines()))
		case !same(java[p.java], golang[p.golang]):
			j, g := java[p.java], golang[p.golang]
			fmt.Fprintf(b, "Java's call %d and Go's call %d, %s of %s, differ:\n", p.java+1, p.golang+1, g.role, g.name)
			diffText(b, j.lines(), g.lines())
		}
	}
}

func diffLines(b *strings.Builder, what string, java, golang []string) {
	if strings.Join(java, "\n") == strings.Join(golang, "\n") {
		return
	}
	fmt.Fprintf(b, "%s differ:\n", what)
	diffText(b, java, golang)
}

// diffText prints both sides with a mark at the lines that the other one lacks.
func diffText(b *strings.Builder, java, golang []string) {
	for _, p := range lcs(len(java), len(golang), func(i, j int) bool { return java[i] == golang[j] }) {
		switch {
		case p.golang < 0:
			fmt.Fprintf(b, "    java only: %s\n", java[p.java])
		case p.java < 0:
			fmt.Fprintf(b, "    go only:   %s\n", golang[p.golang])
		default:
			fmt.Fprintf(b, "    both:      %s\n", java[p.java])
		}
	}
}

func indent(who string, lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "    %s: %s\n", who, l)
	}
	return b.String()
}

// pair is two indexes that belong together, -1 for none.
type pair struct{ java, golang int }

func align(java, golang []step) []pair {
	return lcs(len(java), len(golang), func(i, j int) bool {
		return java[i].role == golang[j].role && java[i].name == golang[j].name && java[i].owner == golang[j].owner
	})
}

// lcs is the longest common subsequence of two sequences, with the elements that only one of them has in between.
func lcs(n, m int, equal func(i, j int) bool) []pair {
	length := make([][]int, n+1)
	for i := range length {
		length[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if equal(i, j) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var out []pair
	i, j := 0, 0
	for i < n || j < m {
		switch {
		case i < n && j < m && equal(i, j):
			out = append(out, pair{i, j})
			i, j = i+1, j+1
		case j == m || i < n && length[i+1][j] >= length[i][j+1]:
			out = append(out, pair{i, -1})
			i++
		default:
			out = append(out, pair{-1, j})
			j++
		}
	}
	return out
}
