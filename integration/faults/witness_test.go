package faults

import (
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/redisserver"
)

// witness knows when the machine itself stood still. It asks a server that no fault ever meets, all the time; when that
// takes a good part of a command timeout, an answer that did not come in time elsewhere is no finding.
type witness struct {
	stop chan struct{}
	done sync.WaitGroup

	mu   sync.Mutex // guards last
	last time.Time  // when the last standstill ended
}

// standstill is how long an answer takes that usually comes within a millisecond.
const standstill = timeout / 4

var machine witness

func (w *witness) watch(t *testing.T) {
	c, err := redis.DialURL(redisserver.Local(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	w.stop = make(chan struct{})
	w.done.Go(func() {
		defer c.Close()
		tick := time.NewTicker(3 * time.Millisecond)
		defer tick.Stop()
		for before := time.Now(); ; {
			select {
			case <-w.stop:
				return
			case <-tick.C:
			}
			if _, err := c.Do("PING"); err != nil {
				t.Errorf("the witness's server: %v", err)
				return
			}
			if now := time.Now(); now.Sub(before) > standstill {
				w.mu.Lock()
				w.last = now
				w.mu.Unlock()
			}
			before = time.Now()
		}
	})
	t.Cleanup(func() {
		close(w.stop)
		w.done.Wait()
	})
}

// stood tells whether the machine stood still at any time since.
func (w *witness) stood(since time.Time) bool {
	// What has just ended may not have been noticed yet.
	<-time.After(standstill)
	return w.noticed(since)
}

// noticed is stood as far as is known by now.
func (w *witness) noticed(since time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last.After(since)
}
