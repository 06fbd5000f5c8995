package doccheck

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

var (
	schemes   = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	lineRange = regexp.MustCompile(`^L([0-9]+)(?:-L([0-9]+))?$`)
)

// brokenLinks lists links to missing files, lines and anchors of the checkout. It does not check other links.
func (c *checkout) brokenLinks() (wrong []string) {
	for _, name := range sorted(c.pages) {
		p := c.pages[name]
		for _, l := range p.links {
			if why := c.broken(p, l.text); why != "" {
				wrong = append(wrong, fmt.Sprintf("%s: link to %s: %s", where(name, l.line), l.text, why))
			}
		}
		for _, u := range p.uses {
			if u.text != "" && !p.labels[u.text] {
				wrong = append(wrong, fmt.Sprintf("%s: link to [%s]: the page has no such label", where(name, u.line), u.text))
			}
		}
	}
	return wrong
}

func (c *checkout) broken(from *page, target string) string {
	if schemes.MatchString(target) {
		return ""
	}
	file, anchor, anchored := strings.Cut(target, "#")
	if strings.HasPrefix(file, "/") {
		return "not relative"
	}
	to := from.path
	if file != "" {
		to = path.Join(path.Dir(from.path), file)
	}
	if !c.exists(to) {
		return "no such file"
	}
	switch page := c.pages[to]; {
	case !anchored:
		return ""
	case page != nil:
		if !page.anchors[anchor] {
			return "no such heading"
		}
	default:
		m := lineRange.FindStringSubmatch(anchor)
		if m == nil || c.folder(to) {
			return "an anchor that means nothing there"
		}
		last := 0
		for _, s := range m[1:] {
			n, _ := strconv.Atoi(s)
			last = max(last, n)
		}
		if have := c.lines(to); last > have {
			return fmt.Sprintf("the file has %d lines", have)
		}
	}
	return ""
}

// lines counts a file's lines; a folder has none.
func (c *checkout) lines(name string) int {
	text, err := os.ReadFile(filepath.Join(c.root, name))
	if err != nil {
		return 0
	}
	return bytes.Count(text, []byte("\n"))
}
