package main

import (
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
			end := strings.IndexByte(pattern[i:], ']')
			if end < 0 {
				end = len(pattern) - i
			}
			class := strings.ReplaceAll(strings.Trim(pattern[i:i+end], "[]"), `[`, `\[`)
			b.WriteString("[" + class + "]")
			i += end
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
