package main

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Sizes of a drawing, in pixels. Viewers have other fonts, so texts are anchored at what they belong to, and what has to
// leave room for them reckons with a wide one.
const (
	drawingWidth  = 830
	drawingHeight = 510
	lineHeight    = 17 // of the labels at the lines' ends
	rowPitch      = 24
	fontSize      = 12
	wideLetter    = 0.6 * fontSize
	margin        = 12
)

// fonts end in one that every viewer has.
const fonts = "Liberation Sans, DejaVu Sans, Arial, Helvetica, sans-serif"

type point struct{ x, y float64 }

// colours tell the parties apart in all drawings, also for those who don't see red and green.
var colours = map[string]string{
	ours:      "#d55e00",
	rawPeer:   "#999999",
	redsyncP:  "#b8a400",
	bsmP:      "#009e73",
	rueidisP:  "#0072b2",
	javaP:     "#cc79a7",
	limitName: "#000000",
}

// drawing is an SVG under way. Nothing but the standard library makes it, so that the document never waits for a module.
type drawing struct {
	strings.Builder
	height                   float64
	left, right, top, bottom float64 // edges of the area that has the data
}

func (d *drawing) put(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

// text puts one at x, y; anchor is start, middle or end.
func (d *drawing) text(x, y float64, anchor, text string) {
	d.put(`<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, html.EscapeString(text))
}

func (d *drawing) line(from, to point, colour string, width float64, more string) {
	d.put(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%g"%s/>`, from.x, from.y, to.x, to.y, colour, width, more)
}

func (d *drawing) dot(at point, colour string) {
	d.put(`<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, at.x, at.y, colour)
}

// ring is a dot that is not filled.
func (d *drawing) ring(at point, colour string) {
	d.put(`<circle cx="%.1f" cy="%.1f" r="5" fill="#ffffff" stroke="%s" stroke-width="2"/>`, at.x, at.y, colour)
}

// svg is the whole, with the title above and the caption below.
func (d *drawing) svg(title, caption string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" width="%d" height="%.0f" font-family="%s" font-size="%d" fill="#222222">
<title>%s</title>
<rect width="100%%" height="100%%" fill="#ffffff"/>
<text x="%d" y="24" text-anchor="middle" font-size="15">%s</text>
%s<text x="%d" y="%.0f" text-anchor="middle" font-size="11" fill="#666666">%s</text>
</svg>
`, drawingWidth, d.height, drawingWidth, d.height, fonts, fontSize, html.EscapeString(title), drawingWidth/2, html.EscapeString(title), d.String(),
		drawingWidth/2, d.height-margin, html.EscapeString(caption))
}

// logAxis is a logarithmic one between whole steps of 1, 2 and 5.
type logAxis struct {
	low, high float64 // of the data
	from, to  float64 // where they are in the drawing
}

// newLogAxis reaches from the step below the lowest value to the one above the highest.
func newLogAxis(lowest, highest, from, to float64) logAxis {
	a := logAxis{low: math.Pow(10, math.Floor(math.Log10(lowest))), from: from, to: to}
	for _, s := range steps(a.low, lowest) {
		a.low = s
	}
	for a.high = a.low; a.high < highest || a.high == a.low; {
		a.high = steps(a.high, 10*a.high)[1]
	}
	return a
}

// steps are the 1, 2, 5, 10, 20 … from low up to high. low is one of them.
func steps(low, high float64) (all []float64) {
	for decade := math.Pow(10, math.Floor(math.Log10(low)+1e-9)); decade <= high; decade *= 10 {
		for _, f := range []float64{1, 2, 5} {
			if s := f * decade; s >= low*(1-1e-9) && s <= high*(1+1e-9) {
				all = append(all, s)
			}
		}
	}
	return all
}

func (a logAxis) at(value float64) float64 {
	return a.from + (a.to-a.from)*math.Log(value/a.low)/math.Log(a.high/a.low)
}

// numbered are the steps that have a number: all, or those of whole decades if there are many.
func (a logAxis) numbered() (all []float64) {
	marks := steps(a.low, a.high)
	for _, s := range marks {
		if l := math.Log10(s); len(marks) <= 9 || math.Abs(l-math.Round(l)) < 1e-9 {
			all = append(all, s)
		}
	}
	return all
}

const gridColour = "#dddddd"

// step writes a number of an axis, with commas between its thousands.
func step(s float64) string {
	text := strconv.FormatFloat(s, 'f', -1, 64)
	for i := len(text) - 3; i > 0 && !strings.Contains(text, "."); i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// acrossGrid draws a horizontal axis below the area, with its grid.
func (d *drawing) acrossGrid(a logAxis, label string) {
	for _, s := range a.numbered() {
		d.line(point{a.at(s), d.top}, point{a.at(s), d.bottom}, gridColour, 1, "")
		d.text(a.at(s), d.bottom+18, "middle", step(s))
	}
	d.text((d.left+d.right)/2, d.bottom+38, "middle", label)
}

// upGrid draws a vertical axis left of the area, with its grid.
func (d *drawing) upGrid(a logAxis, label string) {
	for _, s := range a.numbered() {
		d.line(point{d.left, a.at(s)}, point{d.right, a.at(s)}, gridColour, 1, "")
		d.text(d.left-8, a.at(s)+4, "end", step(s))
	}
	d.text(margin, d.top-16, "start", label)
}

// frame is the area's.
func (d *drawing) frame() {
	d.line(point{d.left, d.top}, point{d.left, d.bottom}, "#222222", 1, "")
	d.line(point{d.left, d.bottom}, point{d.right, d.bottom}, "#222222", 1, "")
}

// curve is one party's points and its line through them.
type curve struct {
	name   string
	points []point
}

// logarithmic is said of an axis behind its unit.
const logarithmic = " (logarithmic)"

// curves draws lines over two logarithmic axes, each with its name at its end. Without points there is no drawing.
func curves(title, caption, x, y string, all []curve) string {
	low, high := bounds(func(yield func(point)) {
		for _, c := range all {
			for _, p := range c.points {
				yield(p)
			}
		}
	})
	if high.x == 0 {
		return ""
	}
	widest := 0
	for _, c := range all {
		widest = max(widest, len(c.name))
	}
	labels := 40 + wideLetter*float64(widest)
	d := &drawing{height: drawingHeight, left: 60, right: drawingWidth - labels - margin, top: 64, bottom: drawingHeight - 76}
	across, up := newLogAxis(low.x, high.x, d.left, d.right), newLogAxis(low.y, high.y, d.bottom, d.top)
	d.acrossGrid(across, x+logarithmic)
	d.upGrid(up, y+logarithmic)
	d.frame()
	var labelled []label
	for _, c := range all {
		dashes := ""
		if c.name == limitName {
			dashes = ` stroke-dasharray="6 4"`
		}
		var last point
		for k, p := range c.points {
			at := point{across.at(p.x), up.at(p.y)}
			if k > 0 {
				d.line(last, at, colours[c.name], 2, dashes)
			}
			d.dot(at, colours[c.name])
			last = at
		}
		labelled = append(labelled, label{c.name, last, last.y})
	}
	for _, l := range apart(labelled) {
		d.line(l.end, point{d.right + margin, l.y}, colours[l.name], 1, "")
		d.text(d.right+margin+6, l.y+4, "start", l.name)
	}
	return d.svg(title, caption)
}

// label is a line's name, where the line ends, and how high the name stands.
type label struct {
	name string
	end  point
	y    float64
}

// apart sorts labels from above and moves those that lie upon each other up and down, evenly.
func apart(all []label) []label {
	slices.SortStableFunc(all, func(a, b label) int { return cmp.Compare(a.end.y, b.end.y) })
	for moved := true; moved; {
		moved = false
		for i := 1; i < len(all); i++ {
			if gap := all[i].y - all[i-1].y; gap < lineHeight-0.01 {
				more := (lineHeight - gap) / 2
				all[i-1].y, all[i].y, moved = all[i-1].y-more, all[i].y+more, true
			}
		}
	}
	return all
}

// bounds are the lowest and the highest coordinates; all are above 0, and without any the result is 0.
func bounds(each func(yield func(point))) (low, high point) {
	each(func(p point) {
		if high.x == 0 {
			low, high = p, p
		}
		low = point{min(low.x, p.x), min(low.y, p.y)}
		high = point{max(high.x, p.x), max(high.y, p.y)}
	})
	return low, high
}
