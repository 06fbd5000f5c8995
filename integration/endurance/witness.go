package main

import (
	"runtime"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

// witness knows when the machine itself stood still: for all of it, or for some of its threads, which is what a busy
// machine does to them.
type witness struct {
	stop     chan struct{}
	done     sync.WaitGroup
	watchers []*watcher
}

// standstill is how long something takes that usually takes a millisecond.
const standstill = 25 * time.Millisecond

// sleepers are the threads that do nothing but sleep for a moment.
const sleepers = 4

// watchMachine begins to ask the server of conn, which no fault ever meets, all the time, and to see how late sleeping
// threads are woken.
func watchMachine(conn redis.Conn) *witness {
	w := &witness{stop: make(chan struct{})}
	w.watch(func() {
		if conn.Err() == nil {
			_, _ = conn.Do("PING") // without an answer its own pace has to tell
		}
	})
	for range sleepers {
		w.watch(func() {})
	}
	return w
}

// watch calls do every few milliseconds, on a thread of its own.
func (w *witness) watch(do func()) {
	m := &watcher{}
	w.watchers = append(w.watchers, m)
	w.done.Go(func() {
		runtime.LockOSThread()
		tick := time.NewTicker(3 * time.Millisecond)
		defer tick.Stop()
		for before := now(); ; {
			select {
			case <-w.stop:
				return
			case <-tick.C:
			}
			do()
			after := now()
			m.passed(before, after)
			before = after
		}
	})
}

// stood is how long the machine stood still between two instants, as the one saw it that saw most.
func (w *witness) stood(from, to int64) (most time.Duration) {
	for _, m := range w.watchers {
		most = max(most, m.stood(from, to))
	}
	return most
}

// watcher is one that goes by its own pace.
type watcher struct {
	mu     sync.Mutex // guards what follows
	stalls []span
	seen   int64 // until when it knows
}

func (m *watcher) passed(before, after int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if after-before > int64(standstill) {
		m.stalls = append(m.stalls, span{before, after})
	}
	m.seen = after
}

func (m *watcher) stood(from, to int64) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	var sum int64
	if at := now(); m.seen != 0 && at-m.seen > int64(standstill) { // it stands still yet
		sum = max(0, min(to, at)-max(from, m.seen))
	}
	for i := len(m.stalls) - 1; i >= 0 && m.stalls[i].to > from; i-- {
		sum += max(0, min(to, m.stalls[i].to)-max(from, m.stalls[i].from))
	}
	return time.Duration(sum)
}

// settled is stood, once what has just ended must have been noticed.
func (w *witness) settled(from, to int64) time.Duration {
	time.Sleep(3 * standstill)
	return w.stood(from, to+int64(standstill))
}

// slack is what is granted to a bound for the machine's own sake: twice what it stood still, and a scheduler's delay.
func (w *witness) slack(from, to int64) time.Duration {
	return 2*w.stood(from, to+int64(standstill)) + delay
}

// delay is what a scheduler may take on a busy machine without anybody standing still.
const delay = 150 * time.Millisecond

func (w *witness) end() {
	close(w.stop)
	w.done.Wait()
}
