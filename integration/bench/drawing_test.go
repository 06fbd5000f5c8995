package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestAxisReachesAroundItsData(t *testing.T) {
	for _, c := range []struct{ lowest, highest, low, high float64 }{
		{1, 1024, 1, 2000},
		{7.3, 169, 5, 200},
		{248, 235_818, 200, 500_000},
		{3.75, 26_645, 2, 50_000},
		{1, 1, 1, 2},
		{0.002, 0.002, 0.002, 0.005},
		{10, 20, 10, 20},
	} {
		a := newLogAxis(c.lowest, c.highest, 100, 300)
		if math.Abs(a.low/c.low-1) > 1e-9 || math.Abs(a.high/c.high-1) > 1e-9 {
			t.Errorf("%g to %g: from %g to %g, want %g to %g", c.lowest, c.highest, a.low, a.high, c.low, c.high)
		}
		if from, to := a.at(a.low), a.at(a.high); from != 100 || math.Abs(to-300) > 1e-9 {
			t.Errorf("%g to %g: drawn from %g to %g", c.lowest, c.highest, from, to)
		}
		if n := len(a.numbered()); n < 2 || n > 9 {
			t.Errorf("%g to %g: %d numbers", c.lowest, c.highest, n)
		}
	}
}

// The published run is drawn: every party of its tables, nothing outside of the picture, no text upon another.
func TestDrawingsHaveEveryPartyAndNothingIsClipped(t *testing.T) {
	r, err := readReport("../../docs/performance/run.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		draw func(*Report) (string, error)
		part string
		dots int
	}{
		{"pairs", plotPairs, "pairs", 7*4 + 7}, // the legend has some too
		{"handoff", plotHandoff, "handoff", 6*2 + 2},
		{"contention", plotContention, "local", 14*2 + 2},
	} {
		svg, err := c.draw(r)
		if err != nil {
			t.Fatal(err)
		}
		s := parseSVG(t, svg)
		if s.dots != c.dots {
			t.Errorf("%s: %d dots, want %d", c.name, s.dots, c.dots)
		}
		for _, want := range append(r.peers(c.part), r.caption()) {
			if want != loneName && !slices.ContainsFunc(s.texts, func(b box) bool { return b.text == want }) {
				t.Errorf("%s: no %s", c.name, want)
			}
		}
		if family, ends := s.font, ", sans-serif"; !strings.HasSuffix(family, ends) {
			t.Errorf("%s: the fonts are %q, which a viewer may lack", c.name, family)
		}
		for i, a := range s.texts {
			if a.left < 0 || a.top < 0 || a.right > s.width || a.bottom > s.height {
				t.Errorf("%s: %q is clipped: %+v", c.name, a.text, a)
			}
			for _, b := range s.texts[:i] {
				if a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom {
					t.Errorf("%s: %q lies upon %q", c.name, a.text, b.text)
				}
			}
		}
	}
}

func TestWithoutDataThereIsNoDrawing(t *testing.T) {
	for _, draw := range []func(*Report) (string, error){plotPairs, plotHandoff, plotContention} {
		if svg, err := draw(&Report{}); svg != "" || err != nil {
			t.Errorf("%q, %v", svg, err)
		}
	}
}

// box is where a text lies, if its letters are as wide as the drawing reckons with.
type box struct {
	text                     string
	left, right, top, bottom float64
}

type parsed struct {
	width, height float64
	font          string
	texts         []box
	dots          int
}

// parseSVG reads a drawing, and fails the test where a point is outside of it.
func parseSVG(t *testing.T, svg string) (s parsed) {
	t.Helper()
	var text *box
	var anchor string
	size := 1.0 // of the text's letters, as a part of the usual
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return s
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			n := map[string]float64{}
			for _, a := range token.Attr {
				n[a.Name.Local], _ = strconv.ParseFloat(a.Value, 64)
				switch a.Name.Local {
				case "text-anchor":
					anchor = a.Value
				case "font-family":
					s.font = a.Value
				}
			}
			switch token.Name.Local {
			case "svg":
				s.width, s.height = n["width"], n["height"]
			case "circle":
				s.dots++
				s.inside(t, n["cx"], n["cy"])
			case "line":
				s.inside(t, n["x1"], n["y1"])
				s.inside(t, n["x2"], n["y2"])
			case "text":
				size = 1
				if n["font-size"] > 0 {
					size = n["font-size"] / fontSize
				}
				text = &box{left: n["x"], top: n["y"] - 10, bottom: n["y"] + 3}
			}
		case xml.CharData:
			if text == nil {
				continue
			}
			text.text = string(token)
			width := size * wideLetter * float64(len([]rune(text.text)))
			switch anchor {
			case "middle":
				text.left -= width / 2
			case "end":
				text.left -= width
			}
			text.right = text.left + width
			s.texts = append(s.texts, *text)
			text = nil
		}
	}
}

func (s parsed) inside(t *testing.T, x, y float64) {
	t.Helper()
	if !(x >= 0 && x <= s.width && y >= 0 && y <= s.height) {
		t.Errorf("%g, %g is outside of %g × %g", x, y, s.width, s.height)
	}
}
