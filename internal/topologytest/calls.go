package topologytest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
)

// Calls counts how often a server ran a command: its name in lower case, with a
// subcommand behind a bar. What it refused or redirected counts too where the
// server counts it so; Redis leaves out what it answers before running.
func Calls(t testing.TB, c redis.Conn, name string) int {
	t.Helper()
	info, err := redis.String(c.Do("INFO", "commandstats"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(info, "cmdstat_"+name+":calls=")
	if !ok {
		return 0
	}
	n := 0
	if _, err := fmt.Sscan(strings.SplitN(rest, ",", 2)[0], &n); err != nil {
		t.Fatal(err)
	}
	return n
}
