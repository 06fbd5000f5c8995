package doccheck

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var draw = flag.Bool("write", false, "draw docs/dev/packages.svg")

// The picture is drawn from the code, so a new package or import makes it stale.
func TestPictureOfThePackagesIsThatOfTheCode(t *testing.T) {
	c := thisCheckout(t)
	imports := map[string][]string{}
	var add func(folder string)
	add = func(folder string) {
		if imports[folder] == nil {
			imports[folder] = c.packages[folder].ours()
			for _, to := range imports[folder] {
				add(to)
			}
		}
	}
	add("rlock")
	if len(imports) < 10 {
		t.Fatalf("rlock stands on %d packages; this test does not see them", len(imports))
	}
	file := filepath.Join(c.root, "docs/dev/packages.svg")
	want := drawPackages(imports)
	if *draw {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile(file); err != nil || string(is) != want {
		t.Errorf("docs/dev/packages.svg is not what the code is (%v): go test ./pages/doccheck -run Picture -write", err)
	}
}

// An import that another import also reaches has no line of its own.
func TestPictureHasALineForEachImportThatNoOtherBrings(t *testing.T) {
	svg := drawPackages(map[string][]string{"top": {"low", "middle"}, "middle": {"low"}, "low": {}})
	if lines := strings.Count(svg, "<path"); lines != 2 || strings.Count(svg, "low middle") != 1 {
		t.Errorf("%d lines, want 2, and the imports of each:\n%s", lines, svg)
	}
}

// The measures of the picture, in pixels.
const (
	boxWide, gapWide = 168, 14
	gapHigh, rowHigh = 44, 13
	charWide         = 6 // of the small print
)

// box is a package in the picture.
type box struct {
	name  string
	level int // the length of the longest path from the top
	lines []string
	x, y  int
}

func (b *box) high() int { return 26 + rowHigh*len(b.lines) }

// drawPackages draws packages with the imports of each, importers above what they import. Go forbids cycles.
func drawPackages(imports map[string][]string) string {
	boxes := map[string]*box{}
	for name, of := range imports {
		boxes[name] = &box{name: name, lines: wrapped(of)}
	}
	var sink func(name string, level int)
	sink = func(name string, level int) {
		if b := boxes[name]; level >= b.level {
			b.level = level
			for _, to := range imports[name] {
				sink(to, level+1)
			}
		}
	}
	for name := range boxes {
		sink(name, 0)
	}
	var levels [][]*box
	for _, b := range boxes {
		for len(levels) <= b.level {
			levels = append(levels, nil)
		}
		levels[b.level] = append(levels[b.level], b)
	}
	wide, y := 0, 10
	for _, level := range levels {
		wide = max(wide, len(level)*(boxWide+gapWide)+gapWide)
	}
	for _, level := range levels {
		slices.SortFunc(level, func(a, b *box) int {
			return cmp.Or(cmp.Compare(above(a, boxes, imports), above(b, boxes, imports)), strings.Compare(a.name, b.name))
		})
		left, high := (wide-len(level)*(boxWide+gapWide)+gapWide)/2, 0
		for i, b := range level {
			b.x, b.y = left+i*(boxWide+gapWide), y
			high = max(high, b.high())
		}
		y += high + gapHigh
	}
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif">`+"\n", wide, y-gapHigh+10)
	s.WriteString("<!-- Drawn from the code: cd integration && go test ./pages/doccheck -run Picture -write -->\n")
	fmt.Fprintf(&s, `<rect width="%d" height="%d" fill="white"/>`+"\n", wide, y-gapHigh+10)
	for _, name := range slices.Sorted(maps.Keys(boxes)) {
		for _, to := range imports[name] {
			if !slices.ContainsFunc(imports[name], func(other string) bool { return other != to && reaches(other, to, imports) }) {
				from, end := boxes[name], boxes[to]
				x1, y1, x2, y2 := from.x+boxWide/2, from.y+from.high(), end.x+boxWide/2, end.y
				fmt.Fprintf(&s, `<path d="M%d %d C%d %d %d %d %d %d" fill="none" stroke="#8aa" stroke-width="1.2"/>`+"\n", x1, y1, x1, y1+gapHigh, x2, y2-gapHigh, x2, y2)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(boxes)) {
		b := boxes[name]
		fmt.Fprintf(&s, `<rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="#f4f8f8" stroke="#488"/>`+"\n", b.x, b.y, boxWide, b.high())
		fmt.Fprintf(&s, `<text x="%d" y="%d" font-size="13" font-weight="bold">%s</text>`+"\n", b.x+6, b.y+17, strings.TrimPrefix(name, "internal/"))
		for i, line := range b.lines {
			fmt.Fprintf(&s, `<text x="%d" y="%d" font-size="10" fill="#555">%s</text>`+"\n", b.x+6, b.y+32+rowHigh*i, line)
		}
	}
	return s.String() + "</svg>\n"
}

// above returns the middle of the packages that import b, which have their places already.
func above(b *box, boxes map[string]*box, imports map[string][]string) int {
	sum, n := 0, 0
	for _, name := range slices.Sorted(maps.Keys(boxes)) {
		if slices.Contains(imports[name], b.name) {
			sum += boxes[name].x
			n++
		}
	}
	return sum / max(n, 1)
}

// reaches tells whether a package imports another one, directly or through others.
func reaches(from, to string, imports map[string][]string) bool {
	return slices.ContainsFunc(imports[from], func(next string) bool { return next == to || reaches(next, to, imports) })
}

// wrapped splits a list of folders into lines that fit into a box.
func wrapped(folders []string) (lines []string) {
	for _, folder := range folders {
		name := strings.TrimPrefix(folder, "internal/")
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(name) <= (boxWide-12)/charWide {
			lines[last] += " " + name
		} else {
			lines = append(lines, name)
		}
	}
	return lines
}
