package timeline

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/torture/internal/checker"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
	"github.com/rlock-go/redisson/integration/torture/internal/schedule"
)

const (
	left, top    = 120, 70
	rowHeight    = 11
	lockGap      = 12
	perSecond    = 100.0 // pixels
	fewestPixels = 0.6   // a bar that is narrower would not be seen
)

// line is a row: a process as far as it deals with one lock.
type line struct {
	lock int
	side history.Side
	row  int
}

// page is a drawing under way.
type page struct {
	*bufio.Writer
	from, to int64
	rows     map[line]int // the top of each, in pixels
	bottom   int
	width    float64
}

// Write draws the page. title heads it, summary stands below.
func (t *Timeline) Write(w io.Writer, title, summary string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &page{Writer: bufio.NewWriter(w), from: t.trim(), to: t.latest, rows: map[line]int{}}
	dropped := t.longest()
	lines := p.layOut(t.windows)
	p.width = left + p.x(p.to) - p.x(p.from) + 40
	p.head(title, dropped)
	p.axis()
	for _, f := range t.faults {
		p.fault(f)
	}
	for i, l := range lines {
		y := p.rows[l]
		if i == 0 || lines[i-1].lock != l.lock {
			fmt.Fprintf(p, "<text class=l x=4 y=%d>lock %d</text>\n", y+9, l.lock)
			fmt.Fprintf(p, "<path class=s d='M4 %dH%.0f'/>\n", y-lockGap/2, p.width)
		}
		fmt.Fprintf(p, "<text x=70 y=%d>%s%d</text>\n", y+9, l.side, l.row)
	}
	for _, w := range t.windows {
		p.window(w)
	}
	fmt.Fprintf(p, "</svg></div>\n<pre>%s</pre>\n</body></html>\n", html.EscapeString(summary))
	return p.Flush()
}

// layOut gives each process that held a lock a row below it.
func (p *page) layOut(windows []checker.Window) []line {
	seen := map[line]bool{}
	var lines []line
	for _, w := range windows {
		if l := lineOf(w); !seen[l] {
			seen[l] = true
			lines = append(lines, l)
		}
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.lock, b.lock), cmp.Compare(a.side, b.side), cmp.Compare(a.row, b.row))
	})
	y := top
	for i, l := range lines {
		if i == 0 || lines[i-1].lock != l.lock {
			y += lockGap
		}
		p.rows[l] = y
		y += rowHeight
	}
	p.bottom = y + 6
	return lines
}

func lineOf(w checker.Window) line { return line{w.Lock, w.Process.Side, w.Process.Row} }

func (p *page) x(at int64) float64 {
	return left + perSecond*time.Duration(max(at, p.from)-p.from).Seconds()
}

func (p *page) head(title string, dropped int) {
	fmt.Fprintf(p, `<!doctype html>
<html lang=en><head><meta charset=utf-8><title>%s</title><style>
body{font:13px sans-serif;margin:12px;color:#222;background:#fff}div{overflow-x:auto;border:1px solid #ddd}
text{font:10px sans-serif;fill:#444}.l{font-weight:bold}.s,.t{stroke:#ddd;stroke-width:1}
.Go{fill:#0a7ea4}.Java{fill:#d97706}.v{fill:url(#v);stroke:#b91c1c;stroke-width:.6}
.n{fill:#8b5cf6;opacity:.16}.r{fill:#dc2626;opacity:.16}.p{fill:#64748b;opacity:.2}
.n:hover,.r:hover,.p:hover{opacity:.45}rect:hover{stroke:#000;stroke-width:.5}
span{display:inline-block;margin-right:14px}i{display:inline-block;width:14px;height:10px;margin-right:4px}
pre{font:12px monospace;white-space:pre-wrap}
</style></head><body><h3>%s</h3><p>
<span><i style='background:#0a7ea4'></i>held by Go</span><span><i style='background:#d97706'></i>held by Java</span>
<span><i style='background:#fff;border:1px solid #b91c1c'></i>cut short or set aside by a fault</span>
<span><i style='background:#c4b5fd'></i>fault of a process's network (upper band)</span>
<span><i style='background:#f5b5b5'></i>of the server (middle, and through all rows)</span>
<span><i style='background:#cbd5e1'></i>of a process (lower band)</span><br>
One row for each process under each lock, %v in all; rest the pointer on anything. `,
		html.EscapeString(title), html.EscapeString(title), time.Duration(p.to-p.from).Round(time.Second))
	if dropped > 0 {
		fmt.Fprintf(p, "The %d shortest holds are left out.", dropped)
	}
	fmt.Fprintf(p, `</p><div><svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%d'>
<defs><pattern id=v width=4 height=4 patternUnits=userSpaceOnUse><path d='M0 4L4 0' stroke='#b91c1c'/></pattern></defs>
`, p.width, p.bottom)
}

func (p *page) axis() {
	second := time.Second.Nanoseconds()
	for i := int64(0); p.from+i*second <= p.to; i++ {
		x := p.x(p.from + i*second)
		fmt.Fprintf(p, "<path class=t d='M%.0f 14V%d'/><text x='%.0f' y=10>%d s</text>\n", x, p.bottom, x, i)
	}
}

// fault is a band above the rows; one of the server goes through them all.
func (p *page) fault(f Fault) {
	class, y, height := "n", 18, 14
	switch {
	case f.Target == schedule.Server:
		class, y, height = "r", 34, p.bottom-34
	case f.Kind == schedule.KillProcess || f.Kind == schedule.StopProcess || f.Kind == schedule.Cancel:
		class, y, height = "p", 50, 14
	}
	fmt.Fprintf(p, "<rect class=%s x='%.1f' y=%d width='%.1f' height=%d><title>%s</title></rect>\n",
		class, p.x(f.From), y, max(3, p.x(f.To)-p.x(f.From)), height, html.EscapeString(f.String()))
}

func (p *page) window(w checker.Window) {
	class, text := string(w.Process.Side), w.Who
	if w.Void != "" {
		class, text = "v", text+", void: "+w.Void
	}
	from, to := p.x(w.From), p.x(max(w.To, w.From))
	fmt.Fprintf(p, "<rect class=%s x='%.1f' y=%d width='%.1f' height=%d><title>%s, %v</title></rect>\n",
		class, from, p.rows[lineOf(w)], max(fewestPixels, to-from), rowHeight-2,
		html.EscapeString(text), time.Duration(w.To-w.From).Round(10*time.Microsecond))
}
