// Package stalls knows for how long the machine let this process wait, for tests.
//
// A bound on time says what the library promises on a machine that runs it. Since
// tells how much later than they asked some threads woke that only sleep. A bound
// grows by that, so that a busy machine breaks no promise and an idle one hides none:
//
//	if took := time.Since(began); took > bound+stalls.Since(began) {
package stalls

import (
	"runtime"
	"sort"
	"sync"
	"time"
)

// every is how long a thread asks to sleep; what it is late by less than least is
// how every machine is.
const (
	every = 2 * time.Millisecond
	least = time.Millisecond
)

// threads is how many watch.
const threads = 2

// watcher is one of them.
type watcher struct {
	mu   sync.Mutex // guards what follows
	woke time.Time
	late []lateness
}

// lateness is by how much a watcher was late in all, until it woke.
type lateness struct {
	woke time.Time
	sum  time.Duration
}

var watchers [threads]watcher

// Watch begins to watch. It is called once, before the first test.
func Watch() (end func()) {
	ended := make(chan struct{})
	var all sync.WaitGroup
	for i := range watchers {
		w := &watchers[i]
		w.woke = time.Now()
		all.Go(func() { w.run(ended) })
	}
	return func() { close(ended); all.Wait() }
}

func (w *watcher) run(ended <-chan struct{}) {
	runtime.LockOSThread()
	for {
		select {
		case <-ended:
			return
		default:
		}
		time.Sleep(every)
		w.wakes(time.Now())
	}
}

func (w *watcher) wakes(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if late := now.Sub(w.woke) - every; late >= least {
		w.late = append(w.late, lateness{now, w.sum() + late})
	}
	w.woke = now
}

func (w *watcher) sum() time.Duration {
	if len(w.late) == 0 {
		return 0
	}
	return w.late[len(w.late)-1].sum
}

// since is by how much the watcher was late from an instant until now, which may be
// while it sleeps.
func (w *watcher) since(from, now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.woke.IsZero() {
		return 0
	}
	before := time.Duration(0)
	if i := sort.Search(len(w.late), func(i int) bool { return w.late[i].woke.After(from) }); i > 0 {
		before = w.late[i-1].sum
	}
	return w.sum() - before + max(0, now.Sub(w.woke)-every)
}

// Since is for how long the machine let the process wait since an instant: the most
// that a thread saw.
func Since(from time.Time) (most time.Duration) {
	now := time.Now()
	for i := range watchers {
		most = max(most, watchers[i].since(from, now))
	}
	return most
}
