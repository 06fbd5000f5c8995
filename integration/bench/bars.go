package main

import (
	"cmp"
	"slices"
)

// bar is one party of a drawing of bars.
type bar struct {
	name, colour string
	value        float64
}

// barGroup is a group of bars under a name of its own.
type barGroup struct {
	name string
	bars []bar
}

// bars draws, for each contest, a bar a party with its number behind it, the longest first. All begin at 0, and their lengths are
// in proportion. Without values there is no drawing.
func bars(title, caption string, all []barGroup) string {
	most, lines, widest := 0.0, 0, 0
	for _, c := range all {
		lines += 1 + len(c.bars)
		for _, b := range c.bars {
			most, widest = max(most, b.value), max(widest, len(b.name))
		}
	}
	if most == 0 {
		return ""
	}
	d := &drawing{left: wideLetter*float64(widest) + 2*margin, right: drawingWidth - 3*margin - 7*wideLetter, top: 44}
	d.bottom = d.top + rowPitch*float64(lines)
	d.height = d.bottom + 44
	y := d.top + rowPitch/2
	for _, c := range all {
		d.text(margin, y+4, "start", c.name)
		y += rowPitch
		slices.SortStableFunc(c.bars, func(a, b bar) int { return cmp.Compare(b.value, a.value) })
		for _, b := range c.bars {
			end := d.left + (d.right-d.left)*b.value/most
			d.text(d.left-8, y+4, "end", b.name)
			d.line(point{d.left, y}, point{end, y}, b.colour, 13, "")
			d.text(end+8, y+4, "start", number(b.value))
			y += rowPitch
		}
		d.line(point{d.left, y - rowPitch*(float64(len(c.bars))+0.5)}, point{d.left, y - rowPitch/2}, "#222222", 1, "")
	}
	return d.svg(title, caption)
}
