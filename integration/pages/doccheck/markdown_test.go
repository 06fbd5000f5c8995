package doccheck

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// page is a Markdown file, parsed as far as the checks need it.
type page struct {
	path    string
	anchors map[string]bool
	labels  map[string]bool // [label]: target
	links   []mark          // targets of links and images
	uses    []mark          // labels of [text][label]
	spans   []mark          // text between backticks
	prose   []mark          // paragraphs, tables and headings without spans
	blocks  []block
}

// mark is a piece of text and its line.
type mark struct {
	text string
	line int
}

// block is a code block. The language of an indented one is "indented".
type block struct {
	language string
	lines    []mark
}

func where(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

var (
	fences     = regexp.MustCompile("^\\s*(```+|~~~+)\\s*([^`\\s]*)")
	items      = regexp.MustCompile(`^\s*([-*+]|[0-9]+[.)])\s`)
	headings   = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	codeSpans  = regexp.MustCompile("`+([^`]+)`+")
	inlineLink = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)`)
	htmlLink   = regexp.MustCompile(`(?:src|href)="([^"]*)"`)
	htmlAnchor = regexp.MustCompile(`(?:id|name)="([^"]*)"`)
	labelDef   = regexp.MustCompile(`(?m)^\[([^\]]+)\]:\s+(\S+)`)
	labelUse   = regexp.MustCompile(`\]\[([^\]]*)\]`)
	htmlNote   = regexp.MustCompile(`(?s)<!--.*?-->`)
	linkText   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

func parsePage(name, text string) *page {
	p := &page{path: name, anchors: map[string]bool{}, labels: map[string]bool{}}
	// Comments are not text, but their lines count.
	text = htmlNote.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	lines := strings.Split(text, "\n")
	blank, listed := true, false
	begun := 0
	var paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			p.inline(mark{strings.Join(paragraph, "\n"), begun})
		}
		paragraph = nil
	}
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch m := fences.FindStringSubmatch(line); {
		case m != nil:
			flush()
			b := block{language: m[2]}
			for i++; i < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), m[1]); i++ {
				b.lines = append(b.lines, mark{lines[i], i + 1})
			}
			p.blocks = append(p.blocks, b)
			blank = false
			continue
		case blank && !listed && strings.HasPrefix(line, "    "):
			flush()
			b := block{language: "indented"}
			for ; i < len(lines) && (strings.HasPrefix(lines[i], "    ") || strings.TrimSpace(lines[i]) == ""); i++ {
				b.lines = append(b.lines, mark{strings.TrimPrefix(lines[i], "    "), i + 1})
			}
			i--
			p.blocks = append(p.blocks, b)
			continue
		case strings.TrimSpace(line) == "":
			flush()
			blank = true
			continue
		}
		if items.MatchString(line) {
			listed = true
		} else if blank && !strings.HasPrefix(line, " ") {
			listed = false
		}
		blank = false
		m := headings.FindStringSubmatch(line)
		if m != nil {
			flush()
			p.heading(m[1])
		}
		if paragraph == nil {
			begun = i + 1
		}
		paragraph = append(paragraph, line)
		if m != nil {
			flush()
		}
	}
	flush()
	return p
}

// heading adds the anchor that GitHub makes for a heading: in lower case, without punctuation, with hyphens for spaces,
// and with a number from the second one on.
func (p *page) heading(text string) {
	text = linkText.ReplaceAllString(text, "$1")
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, text)
	anchor := slug
	for n := 1; p.anchors[anchor]; n++ {
		anchor = fmt.Sprintf("%s-%d", slug, n)
	}
	p.anchors[anchor] = true
}

// inline parses a paragraph.
func (p *page) inline(m mark) {
	line := func(offset int) int { return m.line + strings.Count(m.text[:offset], "\n") }
	for _, at := range codeSpans.FindAllStringSubmatchIndex(m.text, -1) {
		p.spans = append(p.spans, mark{strings.ReplaceAll(m.text[at[2]:at[3]], "\n", " "), line(at[2])})
	}
	plain := codeSpans.ReplaceAllStringFunc(m.text, func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return ' '
		}, s)
	})
	m.text = plain
	p.prose = append(p.prose, m)
	for _, re := range []*regexp.Regexp{inlineLink, htmlLink, labelDef} {
		for _, at := range re.FindAllStringSubmatchIndex(plain, -1) {
			group := len(at) - 2
			p.links = append(p.links, mark{plain[at[group]:at[group+1]], line(at[group])})
		}
	}
	for _, s := range htmlAnchor.FindAllStringSubmatch(plain, -1) {
		p.anchors[s[1]] = true
	}
	for _, s := range labelDef.FindAllStringSubmatch(plain, -1) {
		p.labels[strings.ToLower(s[1])] = true
	}
	for _, at := range labelUse.FindAllStringSubmatchIndex(plain, -1) {
		p.uses = append(p.uses, mark{strings.ToLower(plain[at[2]:at[3]]), line(at[2])})
	}
}
