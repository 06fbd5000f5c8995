package logs_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/tablefile"
)

const (
	page       = "docs/operations.md"
	attributes = "docs/dev/logs.md"
)

const head = "| message | level | attributes | when | what to do |"

// words returns the code spans of a cell.
func words(cell string) []string { return within(cell, "`") }

// within returns the parts of a text between two of these marks.
func within(text, mark string) (all []string) {
	for i, part := range strings.Split(text, mark) {
		if i%2 == 1 {
			all = append(all, part)
		}
	}
	return all
}

// events returns the rows of the table of events in the form of line.event.
func events(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, r := range tablefile.Rows(t, page, head) {
		names := words(r[2])
		slices.Sort(names)
		all = append(all, words(r[0])[0]+", "+strings.ToUpper(r[1])+": "+strings.Join(names, " "))
	}
	slices.Sort(all)
	return all
}

// heldBack has the messages that are logged at level debug while they are held back, each with its own level.
func heldBack(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{"idle connection ended": "INFO", "reconnected": "INFO", "renewals work again": "INFO", "lease renewed again": "INFO"}
	for _, r := range tablefile.Rows(t, page, head) {
		if r[1] == "warn" {
			all[words(r[0])[0]] = "WARN"
		}
	}
	return all
}

// leading matches the names at the start of an entry of the table of attributes.
var leading = regexp.MustCompile("^`(\\w+)`(?: and `(\\w+)`)?, ")

// kinds returns the kinds of attributes by name, from the table of attributes.
func kinds(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, r := range tablefile.Rows(t, attributes, "| kind | attributes |") {
		for entry := range strings.SplitSeq(r[1], "; ") {
			names := leading.FindStringSubmatch(entry)
			if names == nil {
				t.Errorf("%s: no name in %q", r[0], entry)
				continue
			}
			for _, name := range names[1:] {
				if _, twice := all[name]; twice {
					t.Errorf("%s is there twice", name)
				}
				if name != "" {
					all[name] = r[0]
				}
			}
		}
	}
	return all
}

// entry returns what the table of attributes says about one attribute.
func entry(t *testing.T, name string) string {
	t.Helper()
	for _, r := range tablefile.Rows(t, attributes, "| kind | attributes |") {
		for entry := range strings.SplitSeq(r[1], "; ") {
			if text, is := strings.CutPrefix(entry, "`"+name+"`, "); is {
				return text
			}
		}
	}
	t.Fatalf("%s is not in the table of attributes", name)
	return ""
}

// message matches a code span that can be a message.
var message = regexp.MustCompile(`^[a-z]+(?: [a-z]+)+$`)

// The page for people on call sends them to lines of the log.
func TestThePageBySymptomNamesMessagesThatThereAre(t *testing.T) {
	text, err := os.ReadFile("../../../docs/symptoms.md")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, r := range tablefile.Rows(t, page, head) {
		told = append(told, words(r[0])[0])
	}
	named := 0
	for line := range strings.Lines(string(text)) {
		for _, m := range words(line) {
			if message.MatchString(m) && !strings.HasPrefix(m, "rlock ") { // the tool
				if named++; !slices.Contains(told, m) {
					t.Errorf("there is no message %q", m)
				}
			}
		}
	}
	if named < 10 {
		t.Errorf("the page names %d messages", named)
	}
}
