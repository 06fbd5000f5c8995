package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

func watchCommand(s *server) *cobra.Command {
	w := &watch{}
	c := &cobra.Command{
		Use: "watch [NAME | --match PATTERN]", Short: "Watch locks: held, waited for, handed over, released, lost",
		Long: `watch looks at one lock, or at those that a pattern finds, again and again. On a
terminal it shows them with the latest events; otherwise each event is a line.

  held         an owner got it
  waited for   another number of clients waits
  handed over  one owner had it, then another
  released     gone before its lease could end: unlocked, forced or deleted
  lost         its lease ended without a release

What begins and ends between two looks is not seen. A lock that nobody has used
for a minute is no longer shown. Nothing is changed. Ctrl-C ends it.`,
	}
	c.Flags().StringVar(&w.match, "match", "", "names like this, as in ls (default: all)")
	c.Flags().DurationVar(&w.every, "every", 500*time.Millisecond, "how often it looks, at least 50ms")
	c.Flags().DurationVar(&w.rescan, "rescan", 10*time.Second, "how often it looks for more names")
	c.Flags().DurationVar(&w.last, "for", 0, "end after so long (default: never)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 && w.match != "" {
			return wrong("a name or --match, not both")
		}
		if w.every < 50*time.Millisecond || w.rescan < time.Second {
			return wrong("--every is at least 50ms, --rescan at least 1s")
		}
		return serving(s, func(ctx context.Context, r *reader, args []string) error {
			switch {
			case len(args) > 0 && args[0] == "":
				return errNoName
			case len(args) > 0:
				w.name = args[0]
			case w.match == "":
				w.match = "*"
			}
			if w.last > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, w.last)
				defer cancel()
			}
			return w.run(ctx, r)
		})(c, args)
	}
	oneName(s, c)
	c.Args = cobra.MaximumNArgs(1)
	return c
}

// watch is what is watched, and what was seen.
type watch struct {
	name, match         string
	every, rescan, last time.Duration

	known   map[string]*state
	events  []event // the latest
	trouble error

	found    chan found // what was searched
	scanned  time.Time  // when the latest search began
	searches bool       // it goes on
}

// found are the names that a search ended with.
type found struct {
	names map[string]*node
	err   error
}

// screenSize is in characters.
type screenSize struct{ rows, columns int }

// event is what happened to a lock.
type event struct {
	at         time.Time
	what, name string
	detail     string
}

func (e event) String() string {
	return strings.TrimRight(fmt.Sprintf("%s  %-11s  %s  %s", e.at.Format("15:04:05.000"), e.what, visible(e.name), e.detail), " ")
}

func (w *watch) run(ctx context.Context, r *reader) error {
	w.known = map[string]*state{}
	if _, is := terminal(os.Stdout); is {
		fmt.Print("\x1b[2J")
	}
	for first := true; ; first = false {
		seen, err := w.look(ctx, r)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && first {
			return err
		}
		w.report(seen, err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(w.every):
		}
	}
}

// look reads all that is watched.
func (w *watch) look(ctx context.Context, r *reader) ([]*state, error) {
	if w.name != "" {
		s, err := r.one(ctx, w.name)
		return []*state{s}, err
	}
	if err := w.search(ctx, r); err != nil {
		return nil, err
	}
	by, err := r.by(ctx, maps.Keys(w.known))
	if err != nil {
		return nil, err
	}
	var all []*state
	for n, names := range by {
		for some := range slices.Chunk(names, 100) {
			states, err := r.read(ctx, n, some...)
			if err != nil {
				if moved(err) {
					r.slots = nil
				}
				return nil, err
			}
			all = append(all, states...)
		}
	}
	slices.SortFunc(all, func(a, b *state) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// search looks for names that may be locks' now and then. Only the first look waits for
// it; later, with many keys, it goes on beside the others on a connection of its own.
func (w *watch) search(ctx context.Context, r *reader) error {
	find := func(r *reader) {
		l := &listing{r: r, match: w.match}
		err := l.find(ctx)
		w.found <- found{l.names, err}
	}
	switch first := w.found == nil; {
	case first:
		w.found, w.scanned, w.searches = make(chan found, 1), time.Now(), true
		find(r)
	case !w.searches && time.Since(w.scanned) >= w.rescan:
		own, err := r.server.reader()
		if err != nil {
			return err
		}
		w.scanned, w.searches = time.Now(), true
		go func() { defer own.close(); find(own) }()
	}
	select {
	case got := <-w.found:
		w.searches = false
		if got.err == nil {
			w.learn(got.names)
		}
		return got.err
	default:
		return nil
	}
}

// learn takes the names that were found, and forgets those that long were not.
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

// forgets is how long a lock is shown that nobody holds and nobody waits for.
const forgets = time.Minute

// report compares with what was seen before.
func (w *watch) report(seen []*state, err error) {
	var fresh []event
	switch {
	case err != nil && w.trouble == nil:
		fresh = append(fresh, event{time.Now(), "no answer", w.name + w.match, err.Error()})
	case err == nil && w.trouble != nil:
		fresh = append(fresh, event{time.Now(), "answers", w.name + w.match, ""})
	}
	if w.trouble = err; err == nil {
		for _, s := range seen {
			before := w.known[s.Name]
			if before == nil {
				before = &state{Name: s.Name}
			}
			fresh = append(fresh, changes(before, s)...)
			s.used = before.used
			w.known[s.Name] = s
		}
	}
	w.events = append(w.events, fresh...)
	w.events = w.events[max(0, len(w.events)-100):]
	if size, is := terminal(os.Stdout); is {
		fmt.Print(w.screen(seen, size))
		return
	}
	for _, e := range fresh {
		fmt.Println(e)
	}
}

// changes are what happened between two looks at a lock.
func changes(before, now *state) (all []event) {
	add := func(what, format string, args ...any) {
		all = append(all, event{now.at, what, now.Name, fmt.Sprintf(format, args...)})
	}
	came, gone := missing(now.Holders, before.Holders), missing(before.Holders, now.Holders)
	// A key that could not have lived until now was left to expire; looks take a while.
	ended, passed := "released", now.at.Sub(before.at)+10*time.Millisecond
	if before.TTL != nil && *before.TTL >= 0 && passed >= time.Duration(*before.TTL)*time.Millisecond {
		ended = "lost"
	}
	if len(came) == 1 && len(gone) == 1 && ended == "released" {
		add("handed over", "from %s to %s", gone[0].Owner, came[0].Owner)
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
			add(how, "by %s, whose lease ended", h.Owner)
		} else {
			add(how, "by %s", h.Owner)
		}
	}
	for _, h := range came {
		add("held", "by %s%s", h, of(now))
	}
	if was, is := before.waiting(), now.waiting(); is >= 0 && is != max(was, 0) {
		add("waited for", "by %d", is)
	}
	if before.Free != nil && now.Free != nil && *before.Free != *now.Free && len(came)+len(gone) == 0 {
		add("free", "%d, before %d", *now.Free, *before.Free)
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

// missing are those of some that are not among others.
func missing(some, others []holder) (all []holder) {
	for _, h := range some {
		if !slices.ContainsFunc(others, func(o holder) bool { return o.Owner == h.Owner && o.Write == h.Write }) {
			all = append(all, h)
		}
	}
	return all
}

// screen is what a terminal shows: the locks, and the latest events. Longer lines are
// cut, as the terminal would scroll.
func (w *watch) screen(seen []*state, size screenSize) string {
	var b strings.Builder
	fmt.Fprintf(&b, "rlock watch %s  %s\n\n", visible(w.name+w.match), time.Now().Format("15:04:05"))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tKIND\tHOLDER\tHOLDS\tTTL\tWAITING")
	shown := seen[:min(len(seen), max(size.rows/2-4, 1))]
	for _, s := range shown {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", visible(s.Name), s.title(), s.whose(), s.holds(), s.left(), s.waiters())
	}
	t.Flush()
	if more := len(seen) - len(shown); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	b.WriteString("\n")
	if w.trouble != nil {
		fmt.Fprintf(&b, "no answer: %s\n", strings.ReplaceAll(w.trouble.Error(), "\n", ", "))
	}
	room := max(size.rows-strings.Count(b.String(), "\n")-1, 1)
	for _, e := range w.events[max(0, len(w.events)-room):] {
		fmt.Fprintln(&b, e)
	}
	// From the top, each line cleared to its end, and the rest of the screen.
	screen := "\x1b[H"
	for line := range strings.Lines(b.String()) {
		text := []rune(strings.TrimSuffix(line, "\n"))
		screen += string(text[:min(len(text), size.columns-1)]) + "\x1b[K\r\n"
	}
	return screen + "\x1b[J"
}
