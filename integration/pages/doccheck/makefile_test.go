package doccheck

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// makefile has the targets of the checkout's Makefile: what they need first, and what they run.
type makefile struct {
	needs, recipes map[string]string
	text           string
}

var rule = regexp.MustCompile(`^([a-z][a-z0-9-]*):([^=]*)$`)

func (c *checkout) makefile() (m makefile, err error) {
	text, err := os.ReadFile(filepath.Join(c.root, "Makefile"))
	if err != nil {
		return m, err
	}
	m = makefile{needs: map[string]string{}, recipes: map[string]string{}, text: string(text)}
	target := ""
	for line := range strings.Lines(m.text) {
		line = strings.TrimRight(line, "\n")
		if r := rule.FindStringSubmatch(line); r != nil && r[1] != "export" {
			target = r[1]
			m.needs[target] += " " + r[2]
		} else if strings.HasPrefix(line, "\t") && target != "" {
			m.recipes[target] += strings.TrimSuffix(line[1:], "\\") + "\n"
		}
	}
	return m, nil
}

func (m makefile) has(target string) bool {
	_, ok := m.needs[target]
	return ok
}

// runs lists the targets that make makes for one: those that it needs and those that its recipe passes to make.
func (m makefile) runs(target string, seen map[string]bool) map[string]bool {
	if seen == nil {
		seen = map[string]bool{}
	}
	if seen[target] || !m.has(target) {
		return seen
	}
	seen[target] = true
	next := m.needs[target]
	for _, part := range strings.Split(m.recipes[target], "$(MAKE)")[1:] {
		part, _, _ = strings.Cut(part, "&&")
		part, _, _ = strings.Cut(part, ";")
		next += " " + part
	}
	for _, word := range strings.Fields(next) {
		m.runs(word, seen)
	}
	return seen
}
