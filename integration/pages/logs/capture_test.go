package logs_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
)

// line is one record with all its attributes, the logger's included.
type line struct {
	message string
	level   slog.Level
	attrs   map[string]slog.Value
}

// event is what the page says about a line: its message, level and attributes' names. It leaves out client, which all
// lines have, and the marks of a held-back line: the level debug, and suppressed.
func (l line) event(limited map[string]string) string {
	level := l.level.String()
	own, is := limited[l.message]
	if is && l.level == slog.LevelDebug {
		level = own
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(l.attrs)), func(name string) bool {
		return name == "client" || name == "suppressed" && is && level == own
	})
	return fmt.Sprintf("%s, %s: %s", l.message, level, strings.Join(names, " "))
}

func (l line) text(name string) string { return l.attrs[name].String() }

// capture is a handler that keeps all records, and the text that handlers would write of them.
type capture struct {
	log   *log
	with  []slog.Attr
	texts []slog.Handler
}

// log has what the handlers of one logger share.
type log struct {
	mu    sync.Mutex // guards all fields below
	lines []line
	text  bytes.Buffer
}

func newCapture() *capture {
	c := &capture{log: &log{}}
	// Handle calls these under the mutex.
	o := &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}
	c.texts = []slog.Handler{slog.NewTextHandler(&c.log.text, o), slog.NewJSONHandler(&c.log.text, o)}
	return c
}

func (c *capture) Enabled(context.Context, slog.Level) bool { return true }

func (c *capture) Handle(ctx context.Context, r slog.Record) error {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	l := line{r.Message, r.Level, map[string]slog.Value{}}
	add := func(a slog.Attr) bool {
		if _, twice := l.attrs[a.Key]; twice {
			panic("attribute given twice: " + a.Key)
		}
		l.attrs[a.Key] = a.Value.Resolve()
		fmt.Fprintf(&c.log.text, "%+v %#v\n", a.Value.Any(), a.Value.Any())
		return true
	}
	for _, a := range c.with {
		add(a)
	}
	r.Attrs(add)
	c.log.lines = append(c.log.lines, l)
	for _, h := range c.texts {
		if err := h.Handle(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (c *capture) WithAttrs(attrs []slog.Attr) slog.Handler {
	d := *c
	d.with = slices.Concat(c.with, attrs)
	d.texts = nil
	for _, h := range c.texts {
		d.texts = append(d.texts, h.WithAttrs(attrs))
	}
	return &d
}

func (c *capture) WithGroup(string) slog.Handler { panic("the library uses no groups") }

func (c *capture) lines() []line {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	return slices.Clone(c.log.lines)
}

func (c *capture) written() string {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	return c.log.text.String()
}
