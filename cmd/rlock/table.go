package main

import (
	"math"
	"regexp"
	"strings"
	"unicode"
)

// narrow says the same in fewer columns.
var narrow = strings.NewReplacer("read-write (read)", "read", "read-write (write)", "write", "read-write", "r/w", "never expires", "never", "released, kept by", "kept by",
	"- (", "", " (", ", ", ")", "", "WAITING", "WAIT")

var others = regexp.MustCompile(` and (\d+) more$`)

// table returns a line for each lock. If columns is not 0, it shortens owners, kinds and
// names until the lines have that width.
func table(all []*state, columns int) string {
	say := strings.Clone
	lines := func(holder func(string) string, name int) string {
		rows := [][]string{{"NAME", "KIND", "TTL", "HOLDS", say("WAITING"), "HOLDER"}}
		for _, s := range all {
			rows = append(rows, []string{cut(visible(s.Name), name), say(s.title()), say(s.left()), say(s.holds()), s.waiters(), holder(say(s.whose()))})
		}
		return aligned(rows)
	}
	text := lines(strings.Clone, math.MaxInt)
	if columns == 0 || widest(text) <= columns {
		return text
	}
	text = lines(short, math.MaxInt)
	if widest(text) > columns {
		say = func(text string) string { return others.ReplaceAllString(narrow.Replace(text), " +$1") }
		text = lines(short, math.MaxInt)
	}
	if over := widest(text) - columns; over > 0 {
		longest := 0
		for _, s := range all {
			longest = max(longest, width(visible(s.Name)))
		}
		text = lines(short, max(longest-over, 10))
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(cut(strings.TrimSuffix(line, "\n"), columns) + "\n")
	}
	return b.String()
}

// aligned puts cells of rows below each other, two columns apart.
func aligned(rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			if b.WriteString(cell); i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-width(cell)+2))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// ids matches the ids of clients and permits.
var ids = regexp.MustCompile(`([0-9a-f]{8})(-[0-9a-f]{4}){3}-[0-9a-f]{12}|([0-9a-f]{8})[0-9a-f]{24}`)

// short shortens the ids in a text to their beginning, by which they can be found in logs.
func short(text string) string { return ids.ReplaceAllString(text, "$1$3…") }

func widest(text string) (columns int) {
	for line := range strings.Lines(text) {
		columns = max(columns, width(strings.TrimSuffix(line, "\n")))
	}
	return columns
}

// cut shortens a text to this many columns.
func cut(text string, columns int) string {
	if width(text) <= columns {
		return text
	}
	used := 0
	for i, r := range text {
		if used += columnsOf(r); used > columns-1 {
			return text[:i] + strings.Repeat("…", min(max(columns, 0), 1))
		}
	}
	return text
}

// width returns how many columns of a terminal a text takes.
func width(text string) (columns int) {
	for _, r := range text {
		columns += columnsOf(r)
	}
	return columns
}

// wide are the characters that take two columns: those of East Asia, and pictures.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0x303e, Stride: 1}, {Lo: 0x3041, Hi: 0x33ff, Stride: 1},
		{Lo: 0x3400, Hi: 0x4dbf, Stride: 1}, {Lo: 0x4e00, Hi: 0xa4cf, Stride: 1}, {Lo: 0xa960, Hi: 0xa97f, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, {Lo: 0xf900, Hi: 0xfaff, Stride: 1}, {Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff01, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, {Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1}, {Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1},
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

func columnsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf): // drawn over the character before
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}
