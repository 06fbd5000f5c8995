package doccheck

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// told is how soon a holder learns of a loss. Pages and package comments that say so must use just these words.
const told = "at once, or within two seconds if the lock was taken less than two seconds ago"

// otherwise matches other versions. Its first pattern is the end of told, whose beginning must be right.
var otherwise = regexp.MustCompile(`(?i)[^.:|]*if the lock was taken less than two seconds ago|for a lock taken moments ago|at once,? as a rule|as a rule,? at once|held for (?:1|one) to (?:4|four) s` +
	`|older than (?:1|one) to (?:4|four) s|at most about a third of the watchdog timeout later|before that within a third of the lease`)

// toldOtherwise lists pages and package comments with another version of told.
func (c *checkout) toldOtherwise() (wrong []string) {
	check := func(where, text string) {
		for _, found := range otherwise.FindAllString(plain(text), -1) {
			if !strings.HasSuffix(found, told) {
				wrong = append(wrong, fmt.Sprintf("%s: a loss is told %q, this is %q", where, told, strings.TrimSpace(found)))
			}
		}
	}
	for _, name := range sorted(c.pages) {
		check(name, c.text(name))
	}
	for _, dir := range sorted(c.packages) {
		for name, f := range c.packages[dir].files {
			check(name, f.Doc.Text())
		}
	}
	return wrong
}

// plain returns a text on one line, without the targets of its links.
func plain(text string) string {
	text = linkText.ReplaceAllString(text, "$1")
	return strings.Join(strings.Fields(text), " ")
}

// measured is the row of docs/guarantees.md with the longest times, by the holds' age, which a test of rlock measures.
var measured = regexp.MustCompile(`(?m)^\| longest \|(.*)\|$`)

func TestLossIsToldInOneWay(t *testing.T) {
	c := thisCheckout(t)
	none(t, c.toldOtherwise())
	row := measured.FindStringSubmatch(c.text("docs/guarantees.md"))
	if row == nil {
		t.Fatal("docs/guarantees.md has no row of the longest times")
	}
	times := strings.Split(row[1], "|")
	for _, cell := range times {
		if s, err := strconv.ParseFloat(strings.TrimSpace(cell), 64); err != nil || s > 2 {
			t.Errorf("a loss was told after %q s: %v; the pages say: %s", cell, err, told)
		}
	}
	if last := strings.TrimSpace(times[len(times)-1]); last != "0.00" {
		t.Errorf("a loss of the oldest holds was told after %s s; the pages say: %s", last, told)
	}
	comment := ""
	for _, f := range c.packages["rlock"].files {
		comment += f.Doc.Text()
	}
	for where, text := range map[string]string{"README.md": c.text("README.md"), "docs/guarantees.md": c.text("docs/guarantees.md"), "package rlock": comment} {
		if !strings.Contains(plain(text), told) {
			t.Errorf("%s does not say that a loss is told %q", where, told)
		}
	}
}
