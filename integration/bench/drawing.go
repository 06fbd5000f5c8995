package main

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	plotWidth  = 22 * vg.Centimeter
	plotHeight = 13 * vg.Centimeter

	// rightMargin keeps the last number of a logarithmic axis off the edge.
	rightMargin = 1.5
)

type point struct{ x, y float64 }

// row is one line of a plot of strokes.
type row struct {
	name     string
	from, to float64
}

// colours tell the parties apart in all plots, also for those who don't see red and green.
var colours = map[string]color.RGBA{
	ours:      {R: 0xd5, G: 0x5e, A: 0xff},
	rawPeer:   {R: 0x99, G: 0x99, B: 0x99, A: 0xff},
	redsyncP:  {R: 0x56, G: 0xb4, B: 0xe9, A: 0xff},
	bsmP:      {G: 0x9e, B: 0x73, A: 0xff},
	rueidisP:  {G: 0x72, B: 0xb2, A: 0xff},
	javaP:     {R: 0xcc, G: 0x79, B: 0xa7, A: 0xff},
	limitName: {A: 0xff},
}

func newPlot(title, x, y string) *plot.Plot {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text = x
	p.Y.Label.Text = y
	p.Legend.Top = true
	// Viewers without the fonts take wider ones.
	p.Legend.Padding = vg.Points(4)
	p.Legend.XOffs = vg.Points(-8)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{Y: 0xdd}, color.Gray{Y: 0xdd}
	p.Add(grid)
	return p
}

func logX(p *plot.Plot) { p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1} }
func logY(p *plot.Plot) { p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1} }

// addLine adds a line with its points.
func addLine(p *plot.Plot, name string, points []point) error {
	xys := make(plotter.XYs, len(points))
	for i, at := range points {
		xys[i].X, xys[i].Y = at.x, at.y
	}
	line, dots, err := plotter.NewLinePoints(xys)
	if err != nil {
		return err
	}
	line.Color, dots.Color, dots.Shape = colours[name], colours[name], draw.CircleGlyph{}
	line.Width = vg.Points(1.5)
	if name == limitName {
		line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	}
	p.Add(line, dots)
	p.Legend.Add(name, line, dots)
	return nil
}

// strokes draws a line of each row's range on a logarithmic axis. Without rows there is no plot.
func strokes(title, unit string, rows []row) (*plot.Plot, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	p := newPlot(title, unit, "")
	logX(p)
	slices.Reverse(rows) // the first one on top
	var names []string
	lowest, highest := math.Inf(1), 0.0
	for i, r := range rows {
		names = append(names, r.name)
		lowest, highest = min(lowest, r.from, r.to), max(highest, r.from, r.to)
		line, dots, err := plotter.NewLinePoints(plotter.XYs{{X: r.from, Y: float64(i)}, {X: r.to, Y: float64(i)}})
		if err != nil {
			return nil, err
		}
		for name, c := range colours {
			if len(r.name) >= len(name) && r.name[:len(name)] == name {
				line.Color, dots.Color = c, c
			}
		}
		line.Width, dots.Shape = vg.Points(2), draw.CircleGlyph{}
		p.Add(line, dots)
	}
	p.NominalY(names...)
	// Whole decades, so that each end has a number.
	p.X.Min = math.Pow(10, math.Floor(math.Log10(lowest)))
	p.X.Max = rightMargin * math.Pow(10, math.Ceil(math.Log10(highest)))
	return p, nil
}
