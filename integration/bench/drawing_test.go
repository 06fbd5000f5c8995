package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/internal/runfile"
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
	r, err := runfile.Read[Report]("../../docs/performance/run.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		draw func(*Report) (string, error)
		part string
		dots int
	}{
		{"pairs", plotPairs, "pairs", 7 * 4},
		{"handoff", plotHandoff, "handoff", 6*2 + 2}, // two are in the key
		{"contention", plotContention, "local", 0},
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
			if want != loneName && !slices.ContainsFunc(s.texts, func(b box) bool { return b.text == shown(c.part, want) }) {
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

// What is called a limit can't be beaten.
func TestNobodyIsAheadOfWhatThePagesCallALimit(t *testing.T) {
	r, err := runfile.Read[Report]("../../docs/performance/run.json")
	if err != nil {
		t.Fatal(err)
	}
	limits := 0
	for part, metric := range map[string]string{"pairs": "µs", "handoff": "p50 µs"} {
		for _, limit := range []string{limitName, loneName} {
			for _, at := range r.places(part) {
				least, ok := r.median(part, limit, at, metric)
				if !ok || !strings.Contains(shown(part, limit), "limit") {
					continue
				}
				limits++
				for _, peer := range r.peers(part) {
					if is, ok := r.median(part, peer, at, metric); ok && is < least {
						t.Errorf("%s at %s: %s needs %.1f µs, the limit %.1f", part, at, peer, is, least)
					}
				}
			}
		}
	}
	if limits == 0 {
		t.Error("the run has no limit")
	}
}

func TestReadmeSaysHowMuchQuickerThePublishedRunWas(t *testing.T) {
	r, err := runfile.Read[Report]("../../docs/performance/run.json")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	least, most := math.Inf(1), 0.0
	for _, at := range r.places("pairs") {
		name, _ := r.best("pairs", at, "µs", false)
		q := median(r.ratios("pairs", name, ours, at, "µs"))
		least, most = min(least, q), max(most, q)
	}
	if want := fmt.Sprintf("[%.1f to %.1f times as long]", least, most); !strings.Contains(string(page), want) {
		t.Errorf("the README does not have %q", want)
	}
}

func TestLabelsAtTheLinesEndsLieApart(t *testing.T) {
	all := apart([]label{{"c", point{0, 104}, 104}, {"a", point{0, 100}, 100}, {"b", point{0, 101}, 101}, {"d", point{0, 300}, 300}})
	for i, name := range []string{"a", "b", "c", "d"} {
		if all[i].name != name || i > 0 && all[i].y-all[i-1].y < lineHeight-1 {
			t.Errorf("%d: %+v", i, all)
		}
	}
	if all[3].y != 300 {
		t.Errorf("it was moved without need: %+v", all[3])
	}
}

func TestBarsAreInProportionTheLongestFirst(t *testing.T) {
	svg := bars("", "", []barGroup{{"g", []bar{{"half", "#000001", 50}, {"whole", "#000002", 100}}}})
	var lengths []float64
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if err != nil {
			break
		}
		e, is := token.(xml.StartElement)
		if !is || e.Name.Local != "line" {
			continue
		}
		n := map[string]string{}
		for _, a := range e.Attr {
			n[a.Name.Local] = a.Value
		}
		if from, _ := strconv.ParseFloat(n["x1"], 64); strings.HasPrefix(n["stroke"], "#00000") {
			to, _ := strconv.ParseFloat(n["x2"], 64)
			lengths = append(lengths, to-from)
		}
	}
	if len(lengths) != 2 || math.Abs(lengths[0]-2*lengths[1]) > 0.2 {
		t.Errorf("bars of %v, want the first twice as long as the second", lengths)
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
