package main

import (
	"fmt"
	"html"
	"strings"
)

// verdicts of the picture, the worst first.
var verdicts = []struct{ name, colour string }{
	{"two inside", "#d55e00"},
	{"a lock stays taken, or a waiter never enters", "#e69f00"},
	{"a caller gets an error or is not told", "#f0e442"},
	{"one of these, and it promises nothing else", "#cbb3d6"},
	{"none of these", "#56b4e9"},
	{"missing or not tried", "#dddddd"},
}

const (
	twoInside = iota
	stuck
	harmed
	unpromised
	fine
	missing
)

// verdict is what a cell comes to.
func (c *Cell) verdict() int {
	if c == nil || c.Rounds == 0 {
		return missing
	}
	if c.both() > 0 {
		return c.excused(twoInside)
	}
	worst := fine
	for _, m := range c.Metrics {
		for _, v := range m.Values {
			switch {
			case m.Unit == "ms" && m.Better == "less" && v >= never:
				if m.Name == "holder told after" {
					worst = min(worst, harmed)
				} else {
					worst = min(worst, stuck)
				}
			case m.Unit != "ms" && m.Better == "less" && m.Name != "commands an acquisition" && v > 0, m.Unit == "of" && m.Better == "more" && v == 0:
				worst = min(worst, harmed)
			}
		}
	}
	return c.excused(worst)
}

// excused is the verdict of a cell whose fault needs what its party's documentation does not promise.
func (c *Cell) excused(v int) int {
	f, p := findFault(c.Fault), findParty(c.Party)
	if v < unpromised && f != nil && p != nil && p.lacks[f.needs] != "" {
		return unpromised
	}
	return v
}

// picture is the grid: faults down, locks across.
func (r *Report) picture() string {
	const left, top, wide, high, pad = 330.0, 120.0, 84.0, 22.0, 12.0
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	text := func(x, y float64, anchor, more, text string) {
		put(`<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`, x, y, anchor, more, html.EscapeString(text))
	}
	parties, faults := parties(), faults()
	width, height := left+wide*float64(len(parties))+3*pad, top+high*float64(len(faults))+high*float64(len(verdicts))+3*pad
	for i, p := range parties {
		x := left + wide*(float64(i)+0.5)
		text(x, top-8, "start", fmt.Sprintf(` transform="rotate(-30 %.1f %.1f)"`, x, top-8), p.name)
	}
	y := top
	for _, f := range faults {
		text(left-8, y+15, "end", "", f.name)
		for i, p := range parties {
			c := r.of(f.name, p.name)
			v := verdicts[c.verdict()]
			put(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s</title></rect>`, left+wide*float64(i)+1, y+1, wide-2, high-2, v.colour,
				html.EscapeString(f.name+", "+p.name+": "+v.name))
			if c != nil && c.both() > 0 {
				text(left+wide*(float64(i)+0.5), y+15, "middle", "", fmt.Sprintf("%d of %d", c.both(), c.Rounds))
			}
		}
		y += high
	}
	y += pad
	for _, v := range verdicts {
		put(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, left, y+1, high-2, high-2, v.colour)
		text(left+high+4, y+15, "start", "", v.name)
		y += high
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="Liberation Sans, DejaVu Sans, Arial, Helvetica, sans-serif" font-size="12" fill="#222222">
<title>The same faults for every lock</title>
<rect width="100%%" height="100%%" fill="#ffffff"/>
%s</svg>
`, width, height, width, height, b.String())
}
