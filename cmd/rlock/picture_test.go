package main

import (
	"flag"
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
)

var write = flag.Bool("write", false, "put the last screen of watch into docs/watch.svg")

// A terminal shows who holds what, and the events. The screen is made to a picture.
func TestScreenOfWatch(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := prepare(t, s.URL(), "watch", "--every", "100ms", "--rescan", "1s")
	c.Stdout, c.Stderr, c.SysProcAttr = nil, nil, nil
	f, err := pty.StartWithSize(c.Cmd, &pty.Winsize{Rows: 26, Cols: 150})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		for b := make([]byte, 10000); ; {
			n, err := f.Read(b)
			c.out.Write(b[:n])
			if err != nil {
				return // its other end is closed
			}
		}
	}()
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
	if got := c.status(); got != 0 {
		t.Errorf("status %d", got)
	}
	<-read
	screens := strings.Split(c.out.String(), "\x1b[H")
	last := regexp.MustCompile(`\x1b\[[0-9]*[A-Z]|\r`).ReplaceAllString(screens[len(screens)-1], "")
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

// picture draws a screen.
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
