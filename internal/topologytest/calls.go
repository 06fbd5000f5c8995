package topologytest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
)

// Calls counts how often a server ran a command: its name in lower case, with a
// subcommand behind a bar. What it refused or redirected counts too where the
// server counts it so; Redis leaves out what it answers before running.
func Calls(t testing.TB, c redis.Conn, name string) int {
	t.Helper()
	return count(t, c, "commandstats", "cmdstat_"+name+":calls=")
}

// Errors counts how often a server answered with an error of that code.
func Errors(t testing.TB, c redis.Conn, code string) int {
	t.Helper()
	return count(t, c, "errorstats", "errorstat_"+code+":count=")
}

// count reads the number behind a label in a section of INFO; 0 without it.
func count(t testing.TB, c redis.Conn, section, label string) (n int) {
	t.Helper()
	info, err := redis.String(c.Do("INFO", section))
	if err != nil {
		t.Fatal(err)
	}
	if _, rest, ok := strings.Cut(info, label); ok {
		digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if n, err = strconv.Atoi(rest[:digits]); err != nil {
			t.Fatal(err)
		}
	}
	return n
}
