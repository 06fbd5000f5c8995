package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

func watchCommand(s *server) *cobra.Command {
	w := &watch{}
	var output string
	c := &cobra.Command{
		Use: "watch [NAME | --match PATTERN]", Short: "Watch locks: held, waited for, handed over, released, lost",
		Long: `watch looks at one lock, or at those that a pattern finds, again and again. On a
terminal it shows them with the latest events; otherwise each event is a line.

  held         an owner got it, or "already" had it at the first look
  waited for   another number of clients waits
  handed over  one owner had it, then another
  released     gone before its lease could end: unlocked, forced or deleted
  lost         its lease ended without a release

What begins and ends between two looks is not seen. With a pattern, a lock is
found by the search that begins after it was acquired: --rescan after the one
before, or as long as that took. A lock that nobody has used for a minute is no
longer shown. Nothing is changed. Ctrl-C ends it, with status 130.

-o json writes each event as one line, on a terminal too: time, event, name,
holder, waiting, and text with the rest. Other events are "no answer",
"answers", and "free", "count" or "number" of a semaphore, latch or number.`,
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
	looked  bool    // once
	events  []event // the latest
	trouble error

	found    chan found // gets the result of a search
	next     time.Time  // when the next search begins
	searches bool       // a search is running
	missed   error      // the part of the cluster that the latest search did not reach
}

// found is the result of a search.
type found struct {
	names  map[string]*node
	took   time.Duration
	err    error
	missed error
}

// screenSize is in characters.
type screenSize struct{ rows, columns int }

// event is what happened to a lock.
type event struct {
	At      time.Time `json:"time"`
	What    string    `json:"event"`
	Name    string    `json:"name"`
	Bytes   []byte    `json:"name_base64,omitempty"`
	Holder  string    `json:"holder,omitempty"` // the new holder, or the one that is gone
	Waiting *int64    `json:"waiting,omitempty"`
	Text    string    `json:"text,omitempty"`
}

func (e event) String() string { return e.in(math.MaxInt) }

// in formats the event, with its name cut to this many columns.
func (e event) in(columns int) string {
	return strings.TrimRight(fmt.Sprintf("%s  %-11s  %s  %s", e.At.Format("15:04:05.000"), e.What, cut(visible(e.Name), columns), e.Text), " ")
}

func (w *watch) run(ctx context.Context, r *reader) error {
	w.known = map[string]*state{}
	if _, is := terminal(os.Stdout); is && !w.json {
		fmt.Print("\x1b[2J")
	}
	while := ctx // ends with --for, which counts from the first look
	for first := true; ; first = false {
		seen, err := w.look(while, r)
		if while.Err() != nil {
			return ctx.Err()
		}
		if err != nil && first {
			return err
		}
		w.report(seen, cmp.Or(err, r.gaps.err(), w.missed))
		if first && w.last > 0 {
			var cancel context.CancelFunc
			while, cancel = context.WithTimeout(ctx, w.last)
			defer cancel()
		}
		select {
		case <-while.Done():
			return ctx.Err()
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
	for n, names := range by {
		for some := range slices.Chunk(names, 100) {
			states, err := r.states(ctx, n, some...)
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return nil, err
			}
			all = append(all, states...)
		}
	}
	slices.SortFunc(all, func(a, b *state) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// search looks for names that may be locks, and then pauses for at least as long as that
// took. Only the first look waits for it; later searches run in the background on their own
// connections.
func (w *watch) search(ctx context.Context, r *reader) error {
	find := func(r *reader) {
		began := time.Now()
		l := &listing{r: r, match: w.match}
		err := l.find(ctx)
		w.found <- found{l.names, time.Since(began), err, r.gaps.err()}
	}
	switch first := w.found == nil; {
	case first:
		w.found, w.searches = make(chan found, 1), true
		find(r)
	case !w.searches && time.Now().After(w.next):
		own, err := r.server.reader()
		if err != nil {
			return err
		}
		w.searches = true
		go func() { defer own.close(); find(own) }()
	}
	select {
	case got := <-w.found:
		w.searches, w.next, w.missed = false, time.Now().Add(max(w.rescan-got.took, got.took)), got.missed
		if got.err == nil {
			w.learn(got.names)
		}
		return got.err
	default:
		return nil
	}
}

// learn adds the names that were found, and forgets those that no search has found for a minute.
func (w *watch) learn(names map[string]*node) {
	now := time.Now()
	for name := range names {
		if w.known[name] == nil {
			w.known[name] = &state{Name: name}
		}
		w.known[name].used = now
	}
	for name, s := range w.known {
		if now.Sub(s.used) > forgets {
			delete(w.known, name)
		}
	}
}

// forgets is how long a lock stays shown when nobody holds it or waits for it.
const forgets = time.Minute

// report compares with what was seen before, and shows the events. trouble says why some
// locks could not be read.
func (w *watch) report(seen []*state, trouble error) {
	var fresh []event
	switch {
	case trouble != nil && w.trouble == nil:
		fresh = append(fresh, event{At: time.Now(), What: "no answer", Name: w.name + w.match, Text: trouble.Error()})
	case trouble == nil && w.trouble != nil:
		fresh = append(fresh, event{At: time.Now(), What: "answers", Name: w.name + w.match})
	}
	w.trouble = trouble
	for _, s := range seen {
		before := w.known[s.Name]
		if before == nil {
			before = &state{Name: s.Name}
		}
		events := changes(before, s)
		for i := range events {
			if !w.looked && events[i].What == "held" {
				events[i].Text = "already " + events[i].Text
			}
		}
		fresh = append(fresh, events...)
		s.used = before.used
		w.known[s.Name] = s
	}
	w.looked = true
	w.events = append(w.events, fresh...)
	w.events = w.events[max(0, len(w.events)-100):]
	if size, is := terminal(os.Stdout); is && !w.json {
		fmt.Print(w.screen(seen, size))
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

// changes returns what happened between two looks at a lock.
func changes(before, now *state) (all []event) {
	add := func(what, holder, format string, args ...any) *event {
		all = append(all, event{At: now.at, What: what, Name: now.Name, Bytes: now.Bytes, Holder: holder, Text: fmt.Sprintf(format, args...)})
		return &all[len(all)-1]
	}
	came, gone := missing(now.Holders, before.Holders), missing(before.Holders, now.Holders)
	// A key whose TTL has passed since then has expired. 10 ms are for the looks.
	ended, passed := "released", now.at.Sub(before.at)+10*time.Millisecond
	if before.TTL != nil && *before.TTL >= 0 && passed >= time.Duration(*before.TTL)*time.Millisecond {
		ended = "lost"
	}
	if len(came) == 1 && len(gone) == 1 && ended == "released" {
		add("handed over", came[0].Owner, "from %s to %s", gone[0].Owner, came[0].Owner)
		came, gone = nil, nil
	}
	for _, h := range gone {
		how := ended
		if h.Expiry != nil {
			how = "released"
			if passed >= time.Duration(*h.Expiry)*time.Millisecond {
				how = "lost"
			}
		}
		if how == "lost" {
			add(how, h.Owner, "by %s, whose lease ended", h.Owner)
		} else {
			add(how, h.Owner, "by %s", h.Owner)
		}
	}
	for _, h := range came {
		add("held", h.Owner, "by %s%s", h, of(now))
	}
	if was, is := before.waiting(), now.waiting(); is >= 0 && is != max(was, 0) {
		add("waited for", "", "by %d", is).Waiting = &is
	}
	if before.Number != nil && now.Number != nil && *before.Number != *now.Number && len(came)+len(gone) == 0 {
		add(now.numberIs(), "", "%d, before %d", *now.Number, *before.Number)
	}
	return all
}

func of(s *state) string {
	switch {
	case s.Kind == fenced && s.Token != nil:
		return fmt.Sprintf(", token %d", *s.Token)
	case s.Mode != "":
		return ", mode " + s.Mode
	}
	return ""
}

// missing returns those of some that are not among others.
func missing(some, others []holder) (all []holder) {
	for _, h := range some {
		if !slices.ContainsFunc(others, func(o holder) bool { return o.Owner == h.Owner && o.Write == h.Write }) {
			all = append(all, h)
		}
	}
	return all
}

// screen returns what a terminal shows: the locks, and the latest events. It cuts longer
// lines, which would make the terminal scroll.
func (w *watch) screen(seen []*state, size screenSize) string {
	var b strings.Builder
	fmt.Fprintf(&b, "rlock watch %s  %s\n\n", visible(w.name+w.match), time.Now().Format("15:04:05"))
	shown := seen[:min(len(seen), max(size.rows/2-4, 1))]
	b.WriteString(table(shown, size.columns-1))
	if more := len(seen) - len(shown); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	b.WriteString("\n")
	if w.trouble != nil {
		fmt.Fprintf(&b, "%s\n", strings.ReplaceAll(w.trouble.Error(), "\n", ", "))
	}
	room := max(size.rows-strings.Count(b.String(), "\n")-1, 1)
	for _, e := range w.events[max(0, len(w.events)-room):] {
		fmt.Fprintln(&b, e.in(max(size.columns/4, 10)))
	}
	// From the top, each line cleared to its end, and the rest of the screen.
	screen := "\x1b[H"
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if utf8.RuneCountInString(line) >= size.columns {
			line = short(line)
		}
		screen += cut(line, size.columns-1) + "\x1b[K\r\n"
	}
	return screen + "\x1b[J"
}
