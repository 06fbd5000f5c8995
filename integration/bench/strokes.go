package main

import (
	"cmp"
	"slices"
)

// row is one party of a drawing of strokes.
type row struct {
	name, colour string
	from, to     float64
}

// ends say what a stroke's ends are: the ring and the dot.
type ends struct{ ring, dot string }

// strokes draws a line of each row's range over a logarithmic axis, the lowest first. Without rows there is no drawing.
func strokes(title, caption, unit string, of ends, rows []row) string {
	low, high := bounds(func(yield func(point)) {
		for _, r := range rows {
			yield(point{r.from, 1})
			yield(point{r.to, 1})
		}
	})
	if high.x == 0 {
		return ""
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.from, b.from) })
	widest := 0
	for _, r := range rows {
		widest = max(widest, len(r.name))
	}
	d := &drawing{left: wideLetter*float64(widest) + 2*margin, right: drawingWidth - 3*margin, top: 66}
	d.bottom = d.top + rowPitch*float64(len(rows))
	d.height = d.bottom + 76
	axis := newLogAxis(low.x, high.x, d.left, d.right)
	d.acrossGrid(axis, unit+logarithmic)
	d.frame()
	d.endsKey(of)
	y := d.top + rowPitch/2
	for _, r := range rows {
		from, to := point{axis.at(r.from), y}, point{axis.at(r.to), y}
		d.text(d.left-8, y+4, "end", r.name)
		d.line(from, to, r.colour, 3, "")
		d.ring(from, r.colour)
		d.dot(to, r.colour)
		y += rowPitch
	}
	return d.svg(title, caption)
}

// endsKey says above the area what a ring is and what a dot.
func (d *drawing) endsKey(of ends) {
	y := d.top - 16
	d.ring(point{d.left + 6, y}, "#222222")
	d.text(d.left+18, y+4, "start", of.ring)
	x := d.left + 18 + wideLetter*float64(len(of.ring)) + 2*margin
	d.dot(point{x, y}, "#222222")
	d.text(x+12, y+4, "start", of.dot)
}
