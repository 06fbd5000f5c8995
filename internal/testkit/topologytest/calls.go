package topologytest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
)

// Calls returns how often a server ran a command, by INFO commandstats. name is in lower
// case, with a bar before a subcommand. Refusals and redirections count only if the
// server counts them; Redis leaves out what it answers before running.
func Calls(t testing.TB, c redis.Conn, name string) int {
	t.Helper()
	return count(t, c, "commandstats", "cmdstat_"+name+":calls=")
}

// Rejected returns how often a server answered a command, such as by MOVED, without running it.
func Rejected(t testing.TB, c redis.Conn, name string) int {
	t.Helper()
	return count(t, c, "commandstats", "cmdstat_"+name+":", "rejected_calls=")
}

// Errors returns how often a server answered with an error of that code.
func Errors(t testing.TB, c redis.Conn, code string) int {
	t.Helper()
	return count(t, c, "errorstats", "errorstat_"+code+":count=")
}

// count finds the labels one after the other in a section of INFO, and reads the number
// after the last; 0 if one is missing.
func count(t testing.TB, c redis.Conn, section string, labels ...string) (n int) {
	t.Helper()
	info, err := redis.String(c.Do("INFO", section))
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range labels {
		var ok bool
		if _, info, ok = strings.Cut(info, label); !ok {
			return 0
		}
	}
	digits := strings.IndexFunc(info, func(r rune) bool { return r < '0' || r > '9' })
	if n, err = strconv.Atoi(info[:digits]); err != nil {
		t.Fatal(err)
	}
	return n
}

// addCalls adds several INFO commandstats up, with the calls alone. Those of a server
// that has lost all its slots are missing.
func addCalls(all []any) (any, error) {
	total := map[string]int{}
	for _, reply := range all {
		info, err := redis.String(reply, nil)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(info) {
			kind, rest, ok := strings.Cut(line, ":calls=")
			if !ok {
				continue
			}
			digits, _, _ := strings.Cut(rest, ",")
			n, err := strconv.Atoi(digits)
			if err != nil {
				return nil, err
			}
			total[kind] += n
		}
	}
	var text strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(total)) {
		fmt.Fprintf(&text, "%s:calls=%d,\r\n", kind, total[kind])
	}
	return text.String(), nil
}

// concatenate joins texts.
func concatenate(all []any) (any, error) {
	var text strings.Builder
	for _, reply := range all {
		part, err := redis.String(reply, nil)
		if err != nil {
			return nil, err
		}
		text.WriteString(part)
	}
	return text.String(), nil
}
