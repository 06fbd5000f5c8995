package main

import (
	"context"
	"iter"
	"maps"
	"time"
)

// found is the result of a search.
type found struct {
	names  map[string]*node
	queued map[string]bool // those of names that have a queue
	took   time.Duration
	err    error
	missed error
}

// search looks for names that may be locks, and then pauses for at least as long as that
// took. It runs in the background on its own connections. The first look waits for it, but only
// for so long that the screen does not stay empty, and then goes on with the names so far.
func (w *watch) search(ctx context.Context, r *reader) error {
	first := w.found == nil
	if first {
		w.found, w.sofar = make(chan found, 1), make(chan map[string]bool, 1)
	}
	if !w.searches && time.Now().After(w.next) {
		own, err := r.server.reader()
		if err != nil {
			return err
		}
		w.searches = true
		go w.find(ctx, own, w.locks(), first)
	}
	var full <-chan time.Time
	if first {
		full = time.After(firstScreen)
	} else {
		closed := make(chan time.Time)
		close(closed)
		full = closed
	}
	for {
		select {
		case got := <-w.found:
			w.searches, w.next, w.missed = false, time.Now().Add(max(w.rescan-got.took, got.took)), got.missed
			w.once = true
			if got.err == nil {
				w.learn(maps.Keys(got.names))
				for name := range got.queued {
					w.known[name].whole = true
				}
			}
			return got.err
		default:
		}
		select {
		case names := <-w.sofar:
			w.learn(maps.Keys(names))
		default:
		}
		select {
		case got := <-w.found:
			w.found <- got // it has room for it
		case <-full:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// locks returns the names that are known as those of locks. The looks see whether they still are.
func (w *watch) locks() map[string]bool {
	all := map[string]bool{}
	for name, s := range w.known {
		all[name] = s.locked()
	}
	return all
}

// firstScreen is how long the first look waits for the first search.
const firstScreen = 300 * time.Millisecond

// find is one search. The first one hands over what it has found so far every now and then.
func (w *watch) find(ctx context.Context, r *reader, locks map[string]bool, first bool) {
	defer r.close()
	began, last := time.Now(), time.Now()
	l := &listing{r: r, match: w.match, locks: locks}
	if first {
		l.so = func() {
			if time.Since(last) < firstScreen/2 {
				return
			}
			names := map[string]bool{}
			for name := range l.names {
				names[name] = true
			}
			select {
			case w.sofar <- names:
				last = time.Now()
			default:
			}
		}
	}
	err := l.find(ctx)
	w.found <- found{l.names, l.queued, time.Since(began), err, r.gaps.err()}
}

// learn adds the names that were found, and forgets those that no search has found for a minute.
func (w *watch) learn(names iter.Seq[string]) {
	now := time.Now()
	for name := range names {
		if w.known[name] == nil {
			w.known[name], w.order = &state{Name: name}, nil
		}
		w.known[name].used = now
	}
	for name, s := range w.known {
		if now.Sub(s.used) > forgets {
			delete(w.known, name)
			w.order = nil
		}
	}
}

// forgets is how long a lock stays shown when nobody holds it or waits for it.
const forgets = time.Minute
