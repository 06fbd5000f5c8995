package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// like is a Redis pattern as a regular expression.
type like struct{ re *regexp.Regexp }

func (l like) matches(name string) bool { return l.re.MatchString(bytewise(name)) }

// bytewise makes a character of each byte, because Redis matches ? with one byte.
func bytewise(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

func glob(pattern string) (like, error) {
	pattern, b := bytewise(pattern), strings.Builder{}
	b.WriteString(`(?s)^`)
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			b.WriteString(`.*`)
		case '?':
			b.WriteString(`.`)
		case '[':
			var class string
			class, i = classOf(pattern, i+1)
			b.WriteString(class)
		case '\\':
			if i++; i < len(pattern) {
				b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
			}
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	re, err := regexp.Compile(b.String() + `$`)
	return like{re}, err
}

// classOf returns the class that begins at pattern[i], behind its bracket, and where it ends: at the next ], or where the
// pattern does. As in Redis, [^] matches any byte and [] none, and a class may lack its end.
func classOf(pattern string, i int) (class string, end int) {
	not := i < len(pattern) && pattern[i] == '^'
	if not {
		i++
	}
	for ; i < len(pattern) && pattern[i] != ']'; i++ {
		from, to := pattern[i], pattern[i]
		switch {
		case from == '\\' && i+1 < len(pattern):
			i++
			from, to = pattern[i], pattern[i]
		case i+2 < len(pattern) && pattern[i+1] == '-':
			i += 2
			from, to = min(from, pattern[i]), max(from, pattern[i])
		}
		class += fmt.Sprintf(`\x{%x}-\x{%x}`, from, to)
	}
	switch {
	case class == "" && not:
		return `.`, i
	case class == "":
		return `[^\x{0}-\x{10ffff}]`, i
	case not:
		return "[^" + class + "]", i
	}
	return "[" + class + "]", i
}

// literal returns the pattern that matches only text.
func literal(text string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `\`, `\\`).Replace(text)
}

// visible returns a name as a terminal may show it, quoted if need be.
func visible(name string) string {
	quoted := strconv.Quote(name)
	if quoted == `"`+name+`"` && name != "" {
		return name
	}
	return quoted
}
