package doccheck

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// snippets lists the blocks of Go and Java that are in no code file here. A block in a file is compiled, and the file's
// tests run it.
func (c *checkout) snippets() (wrong []string) {
	sources := map[string][]string{} // texts of files, by language
	for _, name := range sorted(c.entries) {
		if language := strings.TrimPrefix(path.Ext(name), "."); language == "go" || language == "java" {
			sources[language] = append(sources[language], c.text(name))
		}
	}
	for _, name := range sorted(c.pages) {
		for _, b := range c.pages[name].blocks {
			if b.language != "go" && b.language != "java" || len(b.lines) == 0 {
				continue
			}
			shown := slices.ContainsFunc(sources[b.language], func(text string) bool {
				return slices.ContainsFunc([]string{"", "\t", "    "}, func(indent string) bool { return strings.Contains(text, b.indented(indent)) })
			})
			if !shown {
				wrong = append(wrong, fmt.Sprintf("%s: no file has this code", where(name, b.lines[0].line)))
			}
		}
	}
	return wrong
}

// indented returns a block's text with the indentation that it has in a file.
func (b block) indented(by string) string {
	var text strings.Builder
	for _, l := range b.lines {
		if l.text != "" {
			text.WriteString(by + l.text)
		}
		text.WriteString("\n")
	}
	return text.String()
}
