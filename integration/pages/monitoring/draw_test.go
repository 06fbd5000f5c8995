package monitoring

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// chart is one panel with its curves.
type chart struct {
	title, unit string
	lines       []line
}

type line struct {
	name      string
	at, value []float64
}

var colours = []string{"#3274d9", "#e02f44", "#56a64b", "#f2a900", "#8f3bb8", "#00a0a0"}

// draw draws charts, two in a row.
func draw(charts []chart) string {
	const w, h, left, top, plotW, plotH = 480, 190, 52, 26, 410, 110
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n", 2*w, h*((len(charts)+1)/2))
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i, c := range charts {
		first, last, most := 0.0, 0.0, 0.0
		for _, l := range c.lines {
			if len(l.at) == 0 {
				continue
			}
			if first == 0 || l.at[0] < first {
				first = l.at[0]
			}
			last, most = max(last, l.at[len(l.at)-1]), max(most, slices.Max(l.value))
		}
		if most == 0 {
			most = 1
		}
		if last == first {
			last++
		}
		fmt.Fprintf(&b, `<g transform="translate(%d,%d)"><text x="%d" y="16" font-weight="bold">%s</text>`+"\n", i%2*w, i/2*h, left, html.EscapeString(c.title))
		fmt.Fprintf(&b, `<path d="M%d %dV%dH%d" fill="none" stroke="#888"/><text x="%d" y="%d" text-anchor="end">%.3g %s</text><text x="%d" y="%d" text-anchor="end">0</text>`+"\n",
			left, top, top+plotH, left+plotW, left-4, top+8, most, c.unit, left-4, top+plotH)
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%.0f s</text>`+"\n", left+plotW, top+plotH+13, last-first)
		x := left
		for j, l := range c.lines {
			var path strings.Builder
			for k, at := range l.at {
				fmt.Fprintf(&path, " %.1f,%.1f", float64(left)+(at-first)/(last-first)*plotW, float64(top+plotH)-l.value[k]/most*plotH)
			}
			colour := colours[j%len(colours)]
			fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`, strings.TrimSpace(path.String()), colour)
			fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", x, top+plotH+30, colour, html.EscapeString(l.name))
			x += 7*len(l.name) + 14
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}
