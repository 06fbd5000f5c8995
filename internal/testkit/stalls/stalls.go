// Package stalls measures how long the machine kept this process waiting, for tests.
//
// A test's time bound says what the library promises while its process gets to run. Since
// returns how late some threads woke that do nothing but sleep. A test adds that to its
// bound, so that a busy machine fails no test and an idle one hides no delay:
//
//	if took := time.Since(began); took > bound+stalls.Since(began) {
package stalls

import (
	"runtime"
	"sort"
	"sync"
	"time"
)

// every is how long a thread asks to sleep. A delay below least does not count, since it
// happens on every machine.
const (
	every = 2 * time.Millisecond
	least = time.Millisecond
)

// threads is how many threads watch.
const threads = 2

// watcher is one of these threads.
type watcher struct {
	mu   sync.Mutex // guards what follows
	woke time.Time
	late []lateness
}

// lateness is how late a watcher was in total, up to the time when it woke.
type lateness struct {
	woke time.Time
	sum  time.Duration
}

var watchers [threads]watcher

// Watch starts the threads; end stops them and waits. Call it once, before the first test.
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

// since returns how late the watcher was in total between from and now, including the
// sleep that has not ended.
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

// Since returns how long the machine has kept the process waiting since from: the most
// that any of the threads saw.
func Since(from time.Time) (most time.Duration) {
	now := time.Now()
	for i := range watchers {
		most = max(most, watchers[i].since(from, now))
	}
	return most
}
