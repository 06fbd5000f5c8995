package timeline

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/torture/internal/checker"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
	"github.com/rlock-go/redisson/integration/torture/internal/schedule"
)

func draw(t *testing.T, fill func(*Timeline)) string {
	t.Helper()
	line := New(0)
	fill(line)
	var b strings.Builder
	if err := line.Write(&b, "a <run>", "seed 1 & more"); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	// The drawing is XML but for quotes that HTML does without.
	svg := page[strings.Index(page, "<svg"):]
	svg = svg[:strings.Index(svg, "</svg>")+6]
	d := xml.NewDecoder(strings.NewReader(svg))
	d.Strict, d.AutoClose = false, nil
	for {
		if _, err := d.Token(); err == io.EOF {
			return page
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
}

func held(side history.Side, lock int, from, to time.Duration) checker.Window {
	return checker.Window{
		From: int64(from), To: int64(to), Lock: lock, Owner: "o", Process: history.Process{Side: side, Row: 1, Life: 1},
		Who: fmt.Sprintf("%s1 <%v>", side, from),
	}
}

func TestPageShowsHoldsAndFaults(t *testing.T) {
	void := held(history.Go, 2, 3*time.Second, 4*time.Second)
	void.Void = "FLUSHALL"
	page := draw(t, func(l *Timeline) {
		l.Window(held(history.Go, 0, time.Second, 2*time.Second))
		l.Window(held(history.Java, 0, 2*time.Second, 2*time.Second+time.Millisecond))
		l.Window(void)
		l.Fault(Fault{Fault: schedule.Fault{At: 1, Kind: schedule.Cut, Target: schedule.GoProcess, Row: 1}, From: int64(time.Second), To: int64(time.Second) + 1})
	})
	for _, want := range []string{
		"<title>a &lt;run&gt;</title>", "seed 1 &amp; more", "lock 0", "lock 2", "Go1", "Java1",
		"<rect class=Go x='220.0' ", "Go1 &lt;1s&gt;, 1s</title>", "Java1 &lt;2s&gt;, 1ms</title>", "void: FLUSHALL", "cut connections Go1",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestPageOfALongRunIsLight(t *testing.T) {
	page := draw(t, func(l *Timeline) {
		for i := range 100_000 {
			from := time.Duration(i) * 10 * time.Millisecond
			l.Window(held(history.Go, i%5, from, from+time.Duration(i%9+1)*time.Millisecond))
		}
	})
	if n := strings.Count(page, "<rect"); n > mostBars || n < mostBars/2 || len(page) > 2<<20 {
		t.Errorf("%d bars, %d bytes", n, len(page))
	}
	if strings.Contains(page, "Go1 &lt;1s&gt;") {
		t.Error("what lies long back is drawn")
	}
}
