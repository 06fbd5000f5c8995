package security

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// TestPageTellsWhatEachRefusedCommandCosts refuses each command of the account in turn. What no longer works is what the page says.
func TestPageTellsWhatEachRefusedCommandCosts(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(b), "| refused | fails | what it costs |\n|---|---|---|\n")
	full := account{name: "worker", password: "secret", rules: []string{"reset", "on", ">secret", "~*", "&*", "+@all"}}
	told := map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "!"), "|")
		if len(cells) != 5 {
			break
		}
		fails := strings.TrimSpace(cells[2])
		for _, command := range strings.Split(strings.Trim(strings.TrimSpace(cells[1]), "`"), " ") {
			command = strings.ReplaceAll(command, "!", "|")
			told[command] = true
			t.Run(command, func(t *testing.T) {
				t.Parallel()
				a := full
				a.rules = append(append([]string{}, full.rules...), "-"+command)
				if got := costOf(t, a); got != fails {
					t.Errorf("without it fails: %s; on the page: %s", got, fails)
				}
			})
		}
	}
	for _, rule := range readDocument(t).fenced.rules {
		if command, is := strings.CutPrefix(rule, "+"); is && !told[command] {
			t.Errorf("the page does not tell what a refusal of %s costs", command)
		}
	}
}

// costOf names what fails for an account: the first word that applies of "opening", "locking", "waiting", "forcing", "killing"; else "nothing".
func costOf(t *testing.T, a account) string {
	r := on(t, redisserver.Local(t))
	r.grant(a)
	s := &suite{rig: r, proxy: faultproxy.Start(t, r.Server.Addr()), prefix: "orders:", fence: true}
	c, err := rlock.Open(t.Context(), as(s.proxy.Addr(), a, ""), options...)
	if err != nil {
		return "opening"
	}
	defer c.Close()
	s.client = c
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"locking", s.holds}, {"asking", s.asks}, {"waiting", s.wakes}, {"forcing", s.forces}, {"killing", s.loses}} {
		ctx, cancel := context.WithTimeout(t.Context(), enough)
		err := part.run(ctx)
		cancel()
		if err != nil {
			t.Log(part.name, err)
			return part.name
		}
	}
	return "nothing"
}
