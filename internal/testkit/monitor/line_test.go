package monitor_test

import (
	"slices"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/monitor"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		db   int
		from string
		args []string
	}{
		{`1700000000.000001 [0 127.0.0.1:1234] "get" "k"`, 0, "127.0.0.1:1234", []string{"get", "k"}},
		{`1700000000.000001 [15 lua] "PING"`, 15, "lua", []string{"PING"}},
		{`1700000000.000001 [0 [::1]:6379] "set" "k" ""`, 0, "[::1]:6379", []string{"set", "k", ""}},
		{`1700000000.000001 [0 unix:/run/r.sock] "set" "a] \"b" "x"`, 0, "unix:/run/r.sock", []string{"set", `a] "b`, "x"}},
		{`1700000000.000001 [0 lua] "e" "\x00\xff\xc3\xa9\n\r\t\a\b\\\""`, 0, "lua", []string{"e", "\x00\xff\xc3\xa9\n\r\t\a\b\\\""}},
	} {
		l, err := monitor.Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if l.DB != c.db || l.From != c.from || !slices.Equal(l.Args, c.args) || l.At.UnixMicro() != 1_700_000_000_000_001 {
			t.Errorf("%s gave %+v", c.text, l)
		}
	}
}

func TestParseRefusesWhatIsNoLine(t *testing.T) {
	for _, text := range []string{
		"", "OK", `x [0 lua] "a"`, `1.000001 [0 lua "a"`, `1.000001 [0] "a"`, `1.000001 [x lua] "a"`,
		`1.000001 [0 lua] a`, `1.000001 [0 lua] "a`, `1.000001 [0 lua] "a" b`, `1.5 [0 lua] "a"`,
	} {
		if l, err := monitor.Parse(text); err == nil {
			t.Errorf("%q gave %+v", text, l)
		}
	}
}
