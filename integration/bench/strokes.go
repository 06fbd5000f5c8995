package main

// row is one party of a drawing of strokes. Rows of one group follow each other.
type row struct {
	group, name string
	from, to    float64
}

// ends say what a stroke's ends are: the ring and the dot.
type ends struct{ ring, dot string }

// strokes draws a line of each row's range over a logarithmic axis, below the name of its group if it has one. Without rows
// there is no drawing.
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
	widest, lines, group := 0, len(rows), ""
	for _, r := range rows {
		widest = max(widest, len(r.name), len(r.group))
		if r.group != group {
			lines++
		}
		group = r.group
	}
	d := &drawing{left: wideLetter*float64(widest) + 2*margin, right: drawingWidth - 3*margin, top: 66}
	d.bottom = d.top + rowPitch*float64(lines)
	d.height = d.bottom + 76
	axis := newLogAxis(low.x, high.x, d.left, d.right)
	d.acrossGrid(axis, unit)
	d.frame()
	d.endsKey(of)
	y, group := d.top+rowPitch/2, ""
	for _, r := range rows {
		if r.group != group {
			d.text(margin, y+4, "start", r.group)
			y, group = y+rowPitch, r.group
		}
		from, to, colour := point{axis.at(r.from), y}, point{axis.at(r.to), y}, colours[r.name]
		d.text(d.left-8, y+4, "end", r.name)
		d.line(from, to, colour, 3, "")
		d.ring(from, colour)
		d.dot(to, colour)
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
