package luasrc

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// scriptsOf are the beginnings of the names of the scripts that a row of docs/security.md is for. The account itself is
// for the other scripts.
var scriptsOf = map[string][]string{
	"`Lock.Info`":          {"info"},
	"fair locks":           {"fair_"},
	"`NewReadWriteLock`":   {"read_", "write_", "rw_"},
	"`NewFencedLock`":      {"fenced_"},
	"`NewPermitSemaphore`": {"permit_"},
	"`NewSemaphore`":       {"semaphore_", "count_down"},
}

// A command that the account lacks ends a script in the middle, and what the script did before that stays.
func TestScriptsNeedWhatTheDocumentedAccountMayDo(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]string{} // by the use; "": the account's
	for line := range strings.Lines(string(text)) {
		if account, ok := strings.CutPrefix(line, "ACL SETUSER worker "); ok {
			rules[""] = account
		}
		for use := range scriptsOf {
			if cells := strings.Split(line, "| "); len(cells) == 3 && strings.HasPrefix(cells[2], use) {
				rules[use] = cells[1]
			}
		}
	}
	if len(rules) != len(scriptsOf)+1 {
		t.Fatalf("the page has rules for %d uses, want %d", len(rules), len(scriptsOf)+1)
	}
	calls := regexp.MustCompile(`call\('(\w+)'`)
	for _, s := range Scripts() {
		allowed := strings.Fields(rules[""])
		for use, names := range scriptsOf {
			if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(s.Name, name) }) {
				allowed = append(allowed, strings.Fields(strings.Trim(rules[use], "` "))...)
			}
		}
		for _, called := range calls.FindAllStringSubmatch(s.Source, -1) {
			if !slices.Contains(allowed, "+"+called[1]) {
				t.Errorf("%s calls %s, which its account may not", s.Name, called[1])
			}
		}
	}
}
