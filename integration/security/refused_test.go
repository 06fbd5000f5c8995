package security

import (
	"context"
	"os"
	"slices"
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
		fails, together := strings.CutSuffix(strings.TrimSpace(cells[2]), ", if both are refused")
		try := func(fails string, refused ...string) {
			t.Run(strings.Join(refused, " "), func(t *testing.T) {
				t.Parallel()
				a := full
				a.rules = slices.Clone(full.rules)
				for _, command := range refused {
					a.rules = append(a.rules, "-"+command)
				}
				if got := costOf(t, a); got != fails {
					t.Errorf("without it fails: %s; on the page: %s", got, fails)
				}
			})
		}
		commands := strings.Fields(strings.ReplaceAll(strings.Trim(strings.TrimSpace(cells[1]), "`"), "!", "|"))
		if together {
			try(fails, commands...)
			fails = "nothing" // with one of them
		}
		for _, command := range commands {
			told[command] = true
			try(fails, command)
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
