package security

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// document is docs/security.md in parts.
type document struct {
	fenced, unfenced account    // the second is the first without the rules that the page says may be left out
	tool             account    // may look at all locks
	additions        [][]string // the rules of each row of the table
	replicated       []string   // the further rules at each node of a redis+replicated:// URL
}

// account is an ACL SETUSER line.
type account struct {
	name, password string
	rules          []string // with reset, on and the password
}

func readDocument(t *testing.T) document {
	t.Helper()
	b, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	var d document
	var accounts []account
	for i, part := range strings.Split(text, "```acl\n") {
		if i > 0 {
			line, _, _ := strings.Cut(part, "\n")
			accounts = append(accounts, parseAccount(t, line))
		}
	}
	if len(accounts) != 2 {
		t.Fatalf("%d ACL lines in the document, want two", len(accounts))
	}
	d.fenced, d.tool = accounts[0], accounts[1]
	d.unfenced = d.fenced
	d.unfenced.rules = slices.DeleteFunc(slices.Clone(d.fenced.rules), func(r string) bool { return strings.HasPrefix(r, "+client|") })
	if len(d.fenced.rules)-len(d.unfenced.rules) != 7 || !strings.Contains(text, "seven `client` rules") {
		t.Fatal("the page says that seven client rules may be left out")
	}
	_, table, _ := strings.Cut(text, "| rules | for |\n|---|---|\n")
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| `") {
			break
		}
		rules, _, _ := strings.Cut(strings.TrimPrefix(line, "| `"), "`")
		rules = strings.ReplaceAll(rules, `\|`, "|") // as a table's cell needs it
		d.additions = append(d.additions, strings.Fields(rules))
	}
	if len(d.additions) != 11 {
		t.Fatalf("%d additions in the document", len(d.additions))
	}
	_, replicated, _ := strings.Cut(text, "A `redis+replicated://` URL needs `")
	replicated, _, _ = strings.Cut(replicated, "`")
	if d.replicated = strings.Fields(replicated); len(d.replicated) == 0 {
		t.Fatal("no rules for redis+replicated:// in the document")
	}
	return d
}

func parseAccount(t *testing.T, line string) account {
	t.Helper()
	f := strings.Fields(line)
	if len(f) < 4 || f[0] != "ACL" || f[1] != "SETUSER" {
		t.Fatalf("no ACL line: %s", line)
	}
	a := account{name: f[2], rules: f[3:]}
	for _, r := range a.rules {
		if strings.HasPrefix(r, ">") {
			a.password = r[1:]
		}
	}
	return a
}

// with returns the account with more rules.
func (a account) with(rules ...string) account {
	a.rules = append(slices.Clone(a.rules), rules...)
	return a
}

// without returns the account without a rule.
func (a account) without(rule string) account {
	a.rules = slices.DeleteFunc(slices.Clone(a.rules), func(r string) bool { return r == rule })
	return a
}

func (r *rig) grant(a account) {
	r.Helper()
	if err := r.tryGrant(a); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) tryGrant(a account) error {
	args := []any{"SETUSER", a.name}
	for _, rule := range a.rules {
		args = append(args, rule)
	}
	_, err := r.Conn.Do("ACL", args...)
	return err
}
