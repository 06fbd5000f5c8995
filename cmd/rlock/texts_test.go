package main

import (
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

// A server that refuses the password was reached, so no command says that it can't be.
func TestARefusalIsNoUnreachableServer(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--requirepass", "right")
	for _, scheme := range []string{"redis", "redis+cluster"} {
		url := scheme + "://:wrong@" + s.Addr()
		for _, args := range append(every, []string{"run", "lock", "--", "true"}) {
			out := ended(t, unreachable, url, args...)
			if strings.Contains(out, "can't reach") || strings.Contains(out, "not sent") || !strings.Contains(out, "WRONGPASS") {
				t.Errorf("%s: %q: %s", scheme, args, out)
			}
		}
	}
}

// run has the status of the other commands where the URL of one server leads to a node of a cluster.
func TestANodesURLHasOneStatus(t *testing.T) {
	t.Parallel()
	c := topologytest.Start(t, 1, 1)
	out := ended(t, unreachable, c.Servers[0].URL(), "run", "lock", "--", "true")
	if want := "rlock: " + c.Servers[0].Addr() + " is a node of a cluster, whose URL is redis+cluster://"; !strings.HasPrefix(out, want) {
		t.Error(out)
	}
}

// Texts of the tool name its own commands, not the library's methods.
func TestUnsetPermitsNameTheCommand(t *testing.T) {
	t.Parallel()
	out := ended(t, notAcquired, single(t), "run", "--kind", "permit", "--wait", "0", "gate", "--", "true")
	if strings.Contains(out, "TrySetPermits") || !strings.Contains(out, "rlock permits NAME set N") {
		t.Error(out)
	}
}

// A terminal draws some characters in two columns, and accents in none.
func TestWideCharactersAlign(t *testing.T) {
	t.Parallel()
	url := single(t)
	c := open(t, url)
	for _, name := range []string{"invoices", "請求書", "e\u0301t\u00e9", "🔒"} {
		acquire(t, c.NewLock(name))
	}
	lines := strings.Split(strings.TrimSpace(ended(t, 0, url, "ls")), "\n")
	at := strings.Index(lines[0], "KIND")
	for name, columns := range map[string]int{"請求書": 6, "e\u0301t\u00e9": 3, "🔒": 2, "invoices": 8} {
		var found bool
		for _, line := range lines {
			rest, ok := strings.CutPrefix(line, name+strings.Repeat(" ", at-columns))
			found = found || ok && strings.HasPrefix(rest, "lock")
		}
		if !found {
			t.Errorf("%s is not aligned:\n%s", name, strings.Join(lines, "\n"))
		}
	}
	if got := cut("請求書", 5); got != "請求…" {
		t.Errorf("cut to %q", got)
	}
}
