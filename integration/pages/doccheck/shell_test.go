package doccheck

import (
	"fmt"
	"regexp"
	"strings"
)

// command is one simple command of a script: what is between ; && || | and line ends.
type command struct {
	env   []string // NAME=value before it
	words []string
	piped bool // its input is the output of the one before
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// parseScript takes a script apart, as far as scripts in documents go: words, quotes, redirections. Variables and
// substitutions stay as they are written.
func parseScript(script string) ([]command, error) {
	var all []command
	var c command
	var word strings.Builder
	begun, skip, piped := false, false, false
	endWord := func() {
		if !begun {
			return
		}
		w := word.String()
		word.Reset()
		begun = false
		switch {
		case skip: // the target of a redirection
			skip = false
		case len(c.words) == 0 && assignment.MatchString(w):
			c.env = append(c.env, w)
		default:
			c.words = append(c.words, w)
		}
	}
	endCommand := func() {
		endWord()
		if len(c.words)+len(c.env) > 0 {
			c.piped = piped
			all = append(all, c)
		}
		c, skip = command{}, false
	}
	script = strings.ReplaceAll(script, "\\\n", " ")
	for i := 0; i < len(script); i++ {
		switch ch := script[i]; ch {
		case '\'', '"':
			end := i + 1
			for end < len(script) && script[end] != ch {
				if ch == '"' && script[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(script) {
				return nil, fmt.Errorf("a %c without its end", ch)
			}
			word.WriteString(script[i+1 : end])
			begun = true
			i = end
		case '\\':
			i++
			if i < len(script) {
				word.WriteByte(script[i])
			}
			begun = true
		case ' ', '\t':
			endWord()
		case '#':
			if begun {
				word.WriteByte(ch)
				continue
			}
			for i+1 < len(script) && script[i+1] != '\n' {
				i++
			}
		case '\n', ';', '&', '|':
			if ch == '&' && skip && !begun { // 2>&1
				continue
			}
			endCommand()
			piped = ch == '|' && !strings.HasPrefix(script[i:], "||")
			if ch != '\n' && i+1 < len(script) && script[i+1] == ch {
				i++
			}
		case '>', '<':
			if word.String() != "" && strings.Trim(word.String(), "0123456789") == "" {
				word.Reset() // the number of a descriptor
				begun = false
			}
			endWord()
			skip = true
			if i+1 < len(script) && script[i+1] == ch {
				i++
			}
		default:
			word.WriteByte(ch)
			begun = true
		}
	}
	endCommand()
	return all, nil
}

// script is what is to be typed of a block; ok tells whether it is commands at all. Of a console block, and of an
// indented one that has prompts, it is what follows the prompts, else all of it.
func (b block) script() (lines []mark, ok bool) {
	switch b.language {
	case "sh", "bash", "console", "indented":
	default:
		return nil, false
	}
	prompts := b.language == "console"
	for _, l := range b.lines {
		prompts = prompts || b.language == "indented" && strings.HasPrefix(l.text, "$ ")
	}
	for i := 0; i < len(b.lines); i++ {
		l := b.lines[i]
		typed := strings.TrimSpace(l.text)
		if prompts {
			rest, is := strings.CutPrefix(typed, "$ ")
			if !is {
				continue
			}
			typed = rest
		}
		for strings.HasSuffix(typed, "\\") && i+1 < len(b.lines) {
			i++
			typed = strings.TrimSpace(strings.TrimSuffix(typed, "\\")) + " " + strings.TrimSpace(b.lines[i].text)
		}
		if typed = withoutNote(typed); typed != "" {
			lines = append(lines, mark{typed, l.line})
		}
	}
	return lines, true
}

var notes = regexp.MustCompile(`(^|\s+)#.*$`)

// withoutNote takes the remark off a line, if what is before it is whole.
func withoutNote(line string) string {
	short := strings.TrimSpace(notes.ReplaceAllString(line, ""))
	if _, err := parseScript(short); err != nil {
		return line
	}
	return short
}
