// Package commandstats reads how often a server ran each kind of command.
package commandstats

import (
	"fmt"
	"strings"

	"github.com/gomodule/redigo/redis"
)

// Calls counts how often a server ran each kind of command, by lower-case name, calls from inside scripts included.
type Calls map[string]int64

// Read returns the counts since the server's start or its last CONFIG RESETSTAT.
func Read(c redis.Conn) (Calls, error) {
	text, err := redis.String(c.Do("INFO", "commandstats"))
	if err != nil {
		return nil, err
	}
	calls := Calls{}
	for line := range strings.SplitSeq(text, "\r\n") {
		rest, ok := strings.CutPrefix(line, "cmdstat_")
		if !ok {
			continue
		}
		kind, rest, _ := strings.Cut(rest, ":calls=")
		var n int64
		if _, err := fmt.Sscanf(rest, "%d,", &n); err != nil {
			return nil, fmt.Errorf("commandstats: %q: %w", line, err)
		}
		calls[kind] = n
	}
	return calls, nil
}

// Since returns the calls made after before was read.
func (c Calls) Since(before Calls) Calls {
	d := Calls{}
	for kind, n := range c {
		d[kind] = n - before[kind]
	}
	return d
}
