package main

import (
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

// witness knows when the machine itself stood still: it asks a server that no fault ever meets, all the time.
type witness struct {
	stop chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex // guards what follows
	stalls []span
	asked  int64 // when it asked what is not answered yet
}

// standstill is how long an answer takes that usually comes within a millisecond.
const standstill = 25 * time.Millisecond

func watchMachine(conn redis.Conn) *witness {
	w := &witness{stop: make(chan struct{})}
	w.done.Go(func() {
		tick := time.NewTicker(3 * time.Millisecond)
		defer tick.Stop()
		for before := now(); ; {
			select {
			case <-w.stop:
				return
			case <-tick.C:
			}
			if conn.Err() == nil {
				_, _ = conn.Do("PING") // without an answer its own pace has to tell
			}
			after := now()
			w.mu.Lock()
			if after-before > int64(standstill) {
				w.stalls = append(w.stalls, span{before, after})
			}
			w.asked = after
			w.mu.Unlock()
			before = after
		}
	})
	return w
}

// stood is how long the machine stood still between two instants.
func (w *witness) stood(from, to int64) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var sum int64
	if at := now(); w.asked != 0 && at-w.asked > int64(standstill) { // it stands still yet
		sum = max(0, min(to, at)-max(from, w.asked))
	}
	for i := len(w.stalls) - 1; i >= 0 && w.stalls[i].to > from; i-- {
		sum += max(0, min(to, w.stalls[i].to)-max(from, w.stalls[i].from))
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
