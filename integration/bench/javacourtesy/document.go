package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/kit/codeedit"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/quantile"
	"github.com/rlock-go/redisson/integration/kit/tablefile"
)

const (
	begins = "<!-- the tables of go run ./javacourtesy -write: written by it, not by hand -->\n"
	ends   = "<!-- end of the tables -->\n"
)

// writeDocument writes the tables of a run of all rows into docs/dev/tables/courtesy.md, and one of their rows into
// docs/performance.md.
func writeDocument(tables string) error {
	one, err := excerpt(tables)
	if err != nil {
		return err
	}
	path, text, err := usersPage()
	if err != nil {
		return err
	}
	before, _, after, err := cut(text)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(before+"\n"+one+after), 0o644); err != nil {
		return err
	}
	return tablefile.Write("courtesy", strings.TrimSuffix(tables, "\n"))
}

func usersPage() (path, text string, err error) {
	root, err := codeedit.Root()
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(root, "docs", "performance.md")
	b, err := os.ReadFile(path)
	return path, string(b), err
}

// cut splits a page into the text before the tables with its mark, the tables, and the mark with the text after them.
func cut(text string) (before, tables, after string, err error) {
	before, rest, found := strings.Cut(text, begins)
	tables, after, closed := strings.Cut(rest, ends)
	if !found || !closed {
		return "", "", "", errors.New("there is no place for the tables")
	}
	return before + begins, tables, ends + after, nil
}

// typical is the row that the page for users has.
const typical = "| 1 ms | 2 Go + 1 Java |"

// excerpt makes a small table of that row of the two tables.
func excerpt(tables string) (string, error) {
	var cells [][]string
	for line := range strings.Lines(tables) {
		if strings.HasPrefix(line, typical) {
			cells = append(cells, strings.Split(strings.TrimSuffix(line, " |\n"), " | "))
		}
	}
	if len(cells) != 2 || len(cells[0]) != 8 || len(cells[1]) != 8 {
		return "", fmt.Errorf("the tables lack the row %q, or it has other columns", typical)
	}
	rates, waits := cells[0], cells[1]
	return "| two Go processes and a Java one, hold 1 ms | without courtesy | with courtesy |\n|---|---|---|\n" +
		fmt.Sprintf("| shares of the lock, %% | %s | %s |\n", rates[6], rates[7]) +
		fmt.Sprintf("| Java's waits, ms, p50 / p99 | %s | %s |\n", waits[2], waits[3]) +
		fmt.Sprintf("| acquisitions a second, all together | %s | %s |\n\n", rates[2], rates[3]), nil
}

func (r report) markdown() string {
	var b strings.Builder
	measured := time.Duration(r.plan.rounds) * (r.plan.slice - settling)
	fmt.Fprintf(&b, "%d cores for everything, server included; %s on 127.0.0.1, %s, Redisson %s on Java 17, warm; load\n"+
		"average before the run %s. Each number is of %v in %d slices, interleaved with those it is compared with; rates and shares are\n"+
		"medians of the slices, ratios those of their ratios, so shares need not add up to 100.\n\n",
		runtime.NumCPU(), r.redis, runtime.Version(), javapeer.Newest, r.load, measured, r.plan.rounds)
	b.WriteString("| hold | who | acquisitions a second: without | with | with / without | with / the Go processes alone | shares in %: without | with |\n" +
		"|---|---|---:|---:|---:|---:|---|---|\n")
	for _, w := range r.rows {
		fmt.Fprintf(&b, "| %s | %v | %.0f | %.0f | %s | %s | %s | %s |\n", holdText(w.hold), w.cast, w.off.rate(), w.on.rate(),
			ratio(rateRatio(w.on, w.off)), ratio(rateRatio(w.on, w.alone)), w.off.sharesText(), w.on.sharesText())
	}
	b.WriteString("\n| hold | who | Java waits, ms (p50 / p99): without | with | Go waits: without | with | commands an acquisition: without | with |\n" +
		"|---|---|---:|---:|---:|---:|---:|---:|\n")
	for _, w := range r.rows {
		fmt.Fprintf(&b, "| %s | %v | %s | %s | %s | %s | %.2f | %.2f |\n", holdText(w.hold), w.cast,
			w.off.waitsText(javaSide), w.on.waitsText(javaSide), w.off.waitsText(goSide), w.on.waitsText(goSide),
			w.off.commandsEach(), w.on.commandsEach())
	}
	b.WriteString("\n")
	return b.String()
}

func holdText(d time.Duration) string {
	if d == 0 {
		return "none"
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// loadAverage is the machine's load average of the last minute.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

func ratio(f float64) string {
	if math.IsNaN(f) {
		return ""
	}
	return fmt.Sprintf("%.2f", f)
}

// sharesText lists the processes' shares and names each side once.
func (r result) sharesText() string {
	var b strings.Builder
	var last side
	for i, share := range r.shares() {
		switch p := r[0].processes[i]; {
		case p.side == last:
			b.WriteString(" + ")
		case last != "":
			fmt.Fprintf(&b, ", %s ", p.side)
		default:
			fmt.Fprintf(&b, "%s ", p.side)
		}
		last = r[0].processes[i].side
		fmt.Fprintf(&b, "%.1f", 100*share)
	}
	return b.String()
}

func (r result) waitsText(of side) string {
	waits := r.waits(of)
	if len(waits) == 0 {
		return ""
	}
	ms := func(q float64) string {
		ms := quantile.Of(waits, q)
		if ms < 10 {
			return fmt.Sprintf("%.1f", ms)
		}
		return fmt.Sprintf("%.0f", ms)
	}
	return ms(0.5) + " / " + ms(0.99)
}
