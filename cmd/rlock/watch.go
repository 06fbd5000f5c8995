package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func watchCommand(s *server) *cobra.Command {
	w := &watch{}
	var output string
	c := &cobra.Command{
		Use: "watch [NAME | --match PATTERN]", Short: "Watch locks: held, waited for, handed over, released, lost",
		Long: `watch looks at one lock, or at those that a pattern finds, again and again. On a
terminal it shows them with the latest events; otherwise each event is a line.

  held         an owner got it, or had it already at the first look
  waited for   another number of clients waits
  handed over  one owner had it, then another
  released     gone before its lease could end: unlocked, forced or deleted
  lost         its lease ended without a release
  kept         released, but taken until its AtLeast is over
  freed        it is no longer kept

What begins and ends between two looks is not seen. With a pattern, a lock is
found by the search that begins after it was acquired: --rescan after the one
before, or as long as that took. So is the queue of a fair lock. Like ls, it
rests as long as it works, so with many locks a look takes longer than --every.
A lock that nobody has used for a minute is no longer shown. Nothing is changed.
Ctrl-C ends it, with status 130. What can't be read is named, and after --for
the status is 74 if that was so at the last look.

-o json writes each event as one line, on a terminal too: time, event, name,
holder, waiting, replica, and text with the rest. Other events are "no answer",
"answers", with --read-only "replica" and "master", and "free", "count" or
"number" of a semaphore, latch or number.`,
	}
	c.Flags().StringVar(&w.match, "match", "", "names like this, as in ls (default: all)")
	c.Flags().DurationVar(&w.every, "every", 500*time.Millisecond, "how often it looks, at least 50ms")
	c.Flags().DurationVar(&w.rescan, "rescan", time.Second, "how often it looks for more names")
	c.Flags().DurationVar(&w.last, "for", 0, "end so long after the first look (default: never)")
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 && w.match != "" {
			return wrong("a name or --match, not both")
		}
		if w.every < 50*time.Millisecond || w.rescan < time.Second {
			return wrong("--every is at least 50ms, --rescan at least 1s")
		}
		if output != "text" && output != "json" {
			return wrong("-o is text or json")
		}
		w.json = output == "json"
		return serving(s, func(ctx context.Context, r *reader, args []string) error {
			switch {
			case len(args) > 0 && args[0] == "":
				return errNoName
			case len(args) > 0:
				w.name = args[0]
			case w.match == "":
				w.match = "*"
			}
			return w.run(ctx, r)
		})(c, args)
	}
	s.fromReplicas(c.Flags())
	oneName(s, c)
	c.Args = cobra.MaximumNArgs(1)
	return c
}

// watch has what to watch, and what was seen.
type watch struct {
	name, match         string
	every, rescan, last time.Duration
	json                bool

	known   map[string]*state
	order   []string // the names of known, sorted; nil: not since it has changed
	looked  bool     // at all names of the first search
	events  []event  // the latest
	trouble error
	stale   string // why replicas are read; empty: none is

	found    chan found           // gets the result of a search
	sofar    chan map[string]bool // gets the names that the first search has found so far
	once     bool                 // the first search is over
	next     time.Time            // when the next search begins
	searches bool                 // a search is running
	missed   error                // the part of the cluster that the latest search did not reach
}

// screenSize is in characters.
type screenSize struct{ rows, columns int }

func (w *watch) run(ctx context.Context, r *reader) error {
	w.known = map[string]*state{}
	if size, is := terminal(os.Stdout); is && !w.json {
		fmt.Print("\x1b[2J" + w.screen(nil, size))
	}
	while := ctx // ends with --for, which counts from the first look at all
	for {
		seen, err := w.look(while, r)
		if while.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !w.looked {
			return err
		}
		first := !w.looked
		w.report(r, seen, cmp.Or(err, r.gaps.err(), w.missed))
		w.looked = w.once || w.name != ""
		if first && w.looked && w.last > 0 {
			var cancel context.CancelFunc
			while, cancel = context.WithTimeout(ctx, w.last)
			defer cancel()
		}
		select {
		case <-while.Done():
			return cmp.Or(ctx.Err(), w.trouble)
		case <-time.After(w.every):
		}
	}
}

// look reads all watched locks that can be read.
func (w *watch) look(ctx context.Context, r *reader) ([]*state, error) {
	if w.name != "" {
		s, err := r.one(ctx, w.name)
		r.gaps = gaps{} // the other masters don't matter
		if err != nil {
			return nil, err
		}
		if err := s.partly(); err != nil {
			r.gaps.name(w.name, err)
		}
		return []*state{s}, nil
	}
	if err := w.search(ctx, r); err != nil {
		return nil, err
	}
	r.gaps = gaps{}
	by, err := r.by(ctx, maps.Keys(w.known))
	if err != nil {
		return nil, err
	}
	var all []*state
	told, last := 0, time.Now()
	for n, names := range by {
		for some := range slices.Chunk(names, 100) {
			began := time.Now()
			states, err := r.states(ctx, n, w.known, some...)
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return nil, err
			}
			all = append(all, states...)
			if time.Since(last) > w.every { // a look at many locks takes its time
				w.happened(r, all[told:], w.trouble)
				w.show(w.sorted)
				told, last = len(all), time.Now()
			}
			if len(some) == 100 {
				if err := rests(ctx, began); err != nil {
					return nil, err
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b *state) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// report compares with what was seen before, and shows the locks and the events.
func (w *watch) report(r *reader, seen []*state, trouble error) {
	w.happened(r, seen, trouble)
	w.show(func() []*state { return seen })
}

// show draws a terminal's screen. On other outputs there are only events.
func (w *watch) show(seen func() []*state) {
	if size, is := terminal(os.Stdout); is && !w.json {
		fmt.Print(w.screen(seen(), size))
	}
}

// sorted returns the known locks that were read.
func (w *watch) sorted() (all []*state) {
	if w.order == nil {
		w.order = slices.Sorted(maps.Keys(w.known))
	}
	for _, name := range w.order {
		if s := w.known[name]; !s.at.IsZero() {
			all = append(all, s)
		}
	}
	return all
}

// happened compares with what was seen before, and reports the events. trouble says why some
// locks could not be read.
func (w *watch) happened(r *reader, seen []*state, trouble error) {
	var fresh []event
	switch {
	case trouble != nil && w.trouble == nil:
		fresh = append(fresh, event{At: time.Now(), What: "no answer", Name: w.name + w.match, Text: trouble.Error()})
	case trouble == nil && w.trouble != nil:
		fresh = append(fresh, event{At: time.Now(), What: "answers", Name: w.name + w.match})
	}
	w.trouble = trouble
	if stale := r.stale(); stale != w.stale {
		what := "replica"
		if stale == "" {
			what = "master" // as before
		}
		fresh = append(fresh, event{At: time.Now(), What: what, Name: w.name + w.match, Text: stale})
		w.stale = stale
	}
	for _, s := range seen {
		before := w.known[s.Name]
		if before == nil {
			before = &state{Name: s.Name}
		}
		events := changes(before, s)
		for i := range events {
			if !w.looked && (events[i].What == "held" || events[i].What == "kept") {
				events[i].Text += ", since before"
			}
		}
		fresh = append(fresh, events...)
		s.used = before.used
		w.known[s.Name] = s
	}
	w.events = append(w.events, fresh...)
	w.events = w.events[max(0, len(w.events)-100):]
	if _, is := terminal(os.Stdout); is && !w.json {
		return
	}
	for _, e := range fresh {
		if w.json {
			_ = json.NewEncoder(os.Stdout).Encode(e)
		} else {
			fmt.Println(e)
		}
	}
}

// screen returns what a terminal shows: the locks, and the latest events. It cuts longer
// lines, which would make the terminal scroll.
func (w *watch) screen(seen []*state, size screenSize) string {
	var b strings.Builder
	searches := ""
	if w.found != nil && !w.once {
		searches = "  searching, " + plural(int64(len(w.known)), "lock") + " so far"
	}
	fmt.Fprintf(&b, "rlock watch %s  %s%s\n\n", visible(w.name+w.match), time.Now().Format("15:04:05"), searches)
	shown := seen[:min(len(seen), max(size.rows/2-4, 1))]
	b.WriteString(table(shown, size.columns-1))
	if more := len(seen) - len(shown); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	b.WriteString("\n")
	if w.stale != "" {
		fmt.Fprintf(&b, "%s\n", w.stale)
	}
	if w.trouble != nil {
		fmt.Fprintf(&b, "%s\n", strings.ReplaceAll(w.trouble.Error(), "\n", ", "))
	}
	room := max(size.rows-strings.Count(b.String(), "\n")-1, 1)
	text := ""
	for _, e := range w.events[max(0, len(w.events)-room):] {
		text += e.in(max(size.columns/4, 10)) + "\n"
	}
	if widest(text) >= size.columns {
		text = short(text) // all of them, so that an owner looks the same in each
	}
	b.WriteString(text)
	// From the top, each line cleared to its end, and the rest of the screen.
	screen := "\x1b[H"
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if width(line) >= size.columns {
			line = short(line)
		}
		screen += cut(line, size.columns-1) + "\x1b[K\r\n"
	}
	return screen + "\x1b[J"
}
