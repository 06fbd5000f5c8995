package main

import (
	"errors"
	"flag"
	"fmt"
	"html"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

var write = flag.Bool("write", false, "put the last screen of watch into docs/watch.svg")

var moves = regexp.MustCompile(`\x1b\[[0-9]*[A-Z]|\r`)

// A terminal shows who holds what, and the events. With -write the screen becomes docs/watch.svg.
func TestScreenOfWatch(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := prepare(t, s.URL(), "watch", "--every", "100ms", "--rescan", "1s")
	_, read := c.onTerminal(pty.Winsize{Rows: 26, Cols: 150})
	c.says("\x1b[H")
	a, b := open(t, s.URL()), open(t, s.URL())
	h := acquire(t, a.NewLock("invoices"))
	acquire(t, a.NewFencedLock("ledger"))
	acquire(t, b.NewReadWriteLock("prices").ReadLock())
	acquire(t, b.NewLock("import"), rlock.Lease(3*time.Second))
	c.says("import")
	ch := enter(t, b.NewLock("invoices"))
	c.says("waited for   invoices  by 1")
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := <-ch
	c.handedOver("invoices", h, next)
	queue := a.NewFairLock("nightly")
	acquire(t, queue)
	enter(t, b.NewFairLock("nightly"))
	c.says("waited for   nightly  by 1")
	c.says("lost         import")
	if err := next.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.says("released     invoices")
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := c.status(); got != 130 {
		t.Errorf("status %d", got)
	}
	<-read
	screens := strings.Split(c.out.String(), "\x1b[H")
	last := plainly(screens[len(screens)-1])
	for _, row := range strings.Split(last, "\n") {
		if len(row) > 150 {
			t.Errorf("a row of %d: %s", len(row), row)
		}
	}
	if *write {
		if err := os.WriteFile("../../docs/watch.svg", []byte(picture(last)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Names and errors may be wider than the terminal, and more than it has rows.
func TestScreenFitsTheTerminal(t *testing.T) {
	t.Parallel()
	w := &watch{match: "*", trouble: errors.New("one\ntwo")}
	var all []*state
	for i := range 100 {
		name := strings.Repeat("ö", i)
		all = append(all, &state{Name: name, Kind: plain, Holders: []holder{{Owner: "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:1", Count: 1}}})
		w.events = append(w.events, event{At: time.Now(), What: "held", Name: name, Text: "by somebody"})
	}
	for _, size := range []screenSize{{10, 40}, {24, 80}, {50, 200}} {
		screen, _ := strings.CutPrefix(w.screen(all, size), "\x1b[H")
		rows := strings.Split(strings.TrimSuffix(screen, "\x1b[J"), "\x1b[K\r\n")
		if len(rows) > size.rows {
			t.Errorf("%d rows of %d", len(rows), size.rows)
		}
		for _, row := range rows {
			if n := len([]rune(row)); n >= size.columns {
				t.Errorf("%d of %d columns: %s", n, size.columns, row)
			}
		}
	}
}

func TestWatchForgetsWhatNobodyUses(t *testing.T) {
	t.Parallel()
	s := &server{url: single(t), timeout: patience}
	acquire(t, open(t, s.url).NewLock("held"))
	r, err := s.reader()
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	long := time.Now().Add(-2 * forgets)
	w := &watch{match: "*", known: map[string]*state{"held": {Name: "held"}, "old": {Name: "old", used: long}, "new": {Name: "new", used: time.Now()}}}
	look := func() {
		seen, err := w.look(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		w.report(r, seen, nil)
	}
	look()
	h := acquire(t, open(t, s.url).NewLock("later"))
	becomes(t, "a later search finds it", func() bool { look(); return w.known["later"] != nil }, nothing)
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	becomes(t, "a later search does not find it", func() bool {
		s := w.known["later"]
		if s != nil { // an earlier search may just have found it
			s.used = long
			look()
		}
		return s == nil
	}, nothing)
	if got := slices.Sorted(maps.Keys(w.known)); !slices.Equal(got, []string{"held", "new"}) {
		t.Errorf("it knows %q", got)
	}
}

// picture draws a screen as an SVG.
func picture(screen string) string {
	rows := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	var b strings.Builder
	height := 16*len(rows) + 24
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1120\" height=\"%d\" font-family=\"monospace\" font-size=\"12\">\n", height)
	fmt.Fprintf(&b, "<rect width=\"1120\" height=\"%d\" rx=\"6\" fill=\"#1b1f24\"/>\n", height)
	for i, row := range rows {
		fmt.Fprintf(&b, "<text x=\"12\" y=\"%d\" fill=\"#d7dde4\" xml:space=\"preserve\">%s</text>\n", 16*i+24, html.EscapeString(row))
	}
	return b.String() + "</svg>\n"
}
