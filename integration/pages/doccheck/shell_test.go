package doccheck

import (
	"fmt"
	"regexp"
	"strings"
)

// command is one simple command of a script, delimited by ; && || | and line ends.
type command struct {
	env   []string // NAME=value before it
	words []string
	piped bool // its input is the output of the one before
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// parseScript parses words, quotes and redirections, which is all that the documents' scripts have. Variables and
// substitutions stay as they are.
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

// script returns the lines of a block that a reader types; ok tells whether the block is commands at all. In a console
// block, and in an indented one with prompts, these are the lines after prompts, else all lines.
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

// withoutNote removes the remark from a line if the rest is a whole command.
func withoutNote(line string) string {
	short := strings.TrimSpace(notes.ReplaceAllString(line, ""))
	if _, err := parseScript(short); err != nil {
		return line
	}
	return short
}
