package monitor

import (
	"slices"
	"strconv"
)

// Call is a command that a client sent; if it is a script, with the commands that it called.
type Call struct {
	Line
	Script string   // the text for EVAL, the SHA-1 for EVALSHA, the name for FCALL; empty for other commands
	Keys   []string // KEYS of a script
	Argv   []string // ARGV of a script
	Inside []Line   // the script's own calls, in order
}

// Messages returns what the call published, itself or inside a script: channel and text of each message.
func (c Call) Messages() [][2]string {
	var out [][2]string
	for _, l := range append([]Line{c.Line}, c.Inside...) {
		if (l.Is("PUBLISH") || l.Is("SPUBLISH")) && len(l.Args) == 3 {
			out = append(out, [2]string{l.Args[1], l.Args[2]})
		}
	}
	return out
}

// Calls joins each script's line with the lines of its calls. They follow it directly, since nothing else runs
// meanwhile.
func Calls(lines []Line) []Call {
	var calls []Call
	for _, l := range lines {
		if l.Lua() && len(calls) > 0 {
			last := &calls[len(calls)-1]
			last.Inside = append(last.Inside, l)
			continue
		}
		c := Call{Line: l}
		if slices.ContainsFunc([]string{"EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL"}, l.Is) && len(l.Args) >= 3 {
			c.Script = l.Args[1]
			if n, err := strconv.Atoi(l.Args[2]); err == nil && n >= 0 && 3+n <= len(l.Args) {
				c.Keys, c.Argv = l.Args[3:3+n], l.Args[3+n:]
			}
		}
		calls = append(calls, c)
	}
	return calls
}
