package doccheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	testName  = regexp.MustCompile(`\b(?:([a-z][a-z0-9]*)\.)?((?:Test|Fuzz|Benchmark|Example)(?:[A-Z][A-Za-z0-9]*|_[a-z]\w*))\b`)
	qualified = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	member    = regexp.MustCompile(`^\(?\*?(Client|Lock|Hold|Owner|Option|AcquireOption|Pool|NameMapper)\)?\.([A-Z]\w*)`)
	alone     = regexp.MustCompile(`^((?:With|Err)[A-Z]\w*)(?:\(.*\))?$`)
	filePath  = regexp.MustCompile(`^([\w./-]+?)/?(?::([0-9]+))?$`)
	ourPage   = regexp.MustCompile(`\bdocs/[\w/.-]*\w`)
)

// unknownNames lists names on the pages that the checkout does not have: tests, identifiers of its packages, paths.
func (c *checkout) unknownNames() (wrong []string) {
	byName := map[string][]*pkg{} // packages by the last part of their folder
	for dir, p := range c.packages {
		byName[lastPart(dir)] = append(byName[lastPart(dir)], p)
	}
	ours := byName["rlock"]
	for _, page := range sorted(c.pages) {
		p := c.pages[page]
		report := func(m mark, format string, args ...any) {
			wrong = append(wrong, fmt.Sprintf("%s: %s", where(page, m.line), fmt.Sprintf(format, args...)))
		}
		for _, m := range slices.Concat(p.prose, p.spans) {
			for _, t := range testName.FindAllStringSubmatch(m.text, -1) {
				if !c.hasTest(byName, t[1], t[2]) {
					report(m, "there is no test %s", t[0])
				}
			}
		}
		for _, m := range p.spans {
			c.namesIn(m.text, byName, func(format string, args ...any) { report(m, format, args...) })
			if s := member.FindStringSubmatch(m.text); s != nil && !declare(ours, s[1]+"."+s[2]) {
				report(m, "package rlock has no %s.%s", s[1], s[2])
			}
			if s := alone.FindStringSubmatch(m.text); s != nil && !declare(ours, s[1]) {
				report(m, "package rlock has no %s", s[1])
			}
			if s := filePath.FindStringSubmatch(m.text); s != nil && c.looksLikeOurs(m.text) {
				if !c.exists(s[1]) {
					report(m, "there is no file or folder %s", s[1])
				} else if line, _ := strconv.Atoi(s[2]); line > c.lines(s[1]) {
					report(m, "%s has %d lines", s[1], c.lines(s[1]))
				}
			}
		}
		for _, b := range p.blocks {
			if b.language != "go" {
				continue
			}
			var text strings.Builder
			for _, l := range b.lines {
				text.WriteString(l.text + "\n")
				c.namesIn(l.text, byName, func(format string, args ...any) { report(l, format, args...) })
			}
			if err := parses(text.String()); err != nil && len(b.lines) > 0 {
				report(b.lines[0], "no Go: %v", err)
			}
		}
	}
	for _, dir := range sorted(c.packages) {
		p := c.packages[dir]
		for _, name := range sorted(p.files) {
			for _, group := range p.files[name].Comments {
				for _, page := range ourPage.FindAllString(group.Text(), -1) {
					if !c.exists(page) {
						wrong = append(wrong, fmt.Sprintf("%s: there is no %s", c.at(group), page))
					}
				}
			}
		}
	}
	return wrong
}

// namesIn checks names of the form pkg.Name and pkg.Type.Name if pkg is a package of the checkout.
func (c *checkout) namesIn(text string, byName map[string][]*pkg, report func(string, ...any)) {
	for _, s := range qualified.FindAllStringSubmatch(text, -1) {
		packages := byName[s[1]]
		switch {
		case packages == nil || testName.MatchString(s[0]):
		case !declare(packages, s[2]):
			report("package %s has no %s", s[1], s[2])
		case s[3] != "" && !declare(packages, s[2]+"."+s[3]):
			report("package %s has no %s.%s", s[1], s[2], s[3])
		}
	}
}

func lastPart(dir string) string { return dir[strings.LastIndexByte(dir, '/')+1:] }

func declare(packages []*pkg, name string) bool {
	return slices.ContainsFunc(packages, func(p *pkg) bool { return p.declared(false)[name] })
}

// hasTest tells whether a test exists, and in a package of that name if one is given.
func (c *checkout) hasTest(byName map[string][]*pkg, in, name string) bool {
	if in != "" {
		return slices.ContainsFunc(byName[in], func(p *pkg) bool { return p.declared(true)[name] })
	}
	for _, p := range c.packages {
		if p.declared(true)[name] {
			return true
		}
	}
	return false
}

// looksLikeOurs tells whether a path belongs to the checkout: it begins with one of its folders and goes on.
func (c *checkout) looksLikeOurs(name string) bool {
	first, rest, more := strings.Cut(name, "/")
	return more && rest != "" && c.folder(first) && !strings.Contains(name, "...") && first != "." && first != ".."
}

// parses checks that a block is a Go file, declarations or statements.
func parses(text string) error {
	var err error
	for _, frame := range []string{"%s", "package p\n%s", "package p\nfunc _() {\n%s\n}"} {
		var f *ast.File
		if f, err = parser.ParseFile(token.NewFileSet(), "", fmt.Sprintf(frame, text), parser.SkipObjectResolution); err == nil && f != nil {
			return nil
		}
	}
	return err
}
