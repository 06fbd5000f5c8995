package monitor

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Line is one command as the server executed it.
type Line struct {
	At   time.Time // by the server's clock, to the microsecond
	DB   int       // the number of the database that was selected
	From string    // the client's address, "unix:" and a path, or "lua" for a call inside a script
	Args []string  // the name as it was sent, and the arguments, byte for byte
}

// Lua tells whether the command was called inside a script.
func (l Line) Lua() bool { return l.From == "lua" }

// Is tells whether the command has this name, ignoring case.
func (l Line) Is(name string) bool { return len(l.Args) > 0 && strings.EqualFold(l.Args[0], name) }

// String returns the command and its arguments, separated by blanks and quoted where needed.
func (l Line) String() string {
	words := make([]string, len(l.Args))
	for i, arg := range l.Args {
		words[i] = arg
		if quoted := strconv.Quote(arg); arg == "" || strings.Contains(arg, " ") || quoted != `"`+arg+`"` {
			words[i] = quoted
		}
	}
	return strings.Join(words, " ")
}

// Parse reads a line of MONITOR without its leading "+":
//
//	1700000000.000001 [0 127.0.0.1:1234] "get" "a\x00b"
func Parse(text string) (Line, error) {
	bad := func(what string) (Line, error) {
		return Line{}, fmt.Errorf("monitor: %s in line %q", what, text)
	}
	stamp, rest, ok := strings.Cut(text, " [")
	if !ok {
		return bad("no source")
	}
	at, err := instant(stamp)
	if err != nil {
		return bad("no time")
	}
	// An address may contain brackets ([::1]:6379), so it ends where the first argument begins.
	source, rest, ok := strings.Cut(rest, `] "`)
	if !ok {
		return bad("no command")
	}
	db, from, ok := strings.Cut(source, " ")
	if !ok {
		return bad("no client")
	}
	line := Line{At: at, From: from}
	if line.DB, err = strconv.Atoi(db); err != nil {
		return bad("no database")
	}
	for rest = `"` + rest; rest != ""; rest = strings.TrimPrefix(rest, " ") {
		arg, length, err := unquote(rest)
		if err != nil {
			return bad(err.Error())
		}
		line.Args = append(line.Args, arg)
		rest = rest[length:]
	}
	return line, nil
}

func instant(stamp string) (time.Time, error) {
	seconds, micros, _ := strings.Cut(stamp, ".")
	s, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || len(micros) != 6 {
		return time.Time{}, fmt.Errorf("monitor: %q is no time", stamp)
	}
	us, err := strconv.ParseInt(micros, 10, 64)
	return time.Unix(s, us*int64(time.Microsecond)), err
}

// unquote reads one quoted argument and returns how many bytes of text it took. Go understands all escapes that Redis
// writes: \n \r \t \a \b \\ \" and, for each other byte that does not print, \x with two digits.
func unquote(text string) (arg string, length int, err error) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil || quoted[0] != '"' {
		return "", 0, fmt.Errorf("an argument without quotes")
	}
	arg, err = strconv.Unquote(quoted)
	return arg, len(quoted), err
}
