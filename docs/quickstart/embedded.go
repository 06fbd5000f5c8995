package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// embedded is a Redis inside this process, good enough for a show. It lacks
// what the library would use to break off a lost connection (CLIENT ID and
// CLIENT KILL); the library gets along without.
type embedded struct {
	redis *miniredis.Miniredis
	quit  chan struct{}
	clock sync.WaitGroup
}

func startEmbedded() (*embedded, error) {
	redis, err := miniredis.Run()
	if err != nil {
		return nil, fmt.Errorf("embedded redis: %w", err)
	}
	e := &embedded{redis: redis, quit: make(chan struct{})}
	e.clock.Go(e.run)
	return e, nil
}

// run lets time pass for the keys.
func (e *embedded) run() {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-e.quit:
			return
		case <-tick.C:
			now := time.Now()
			e.redis.FastForward(now.Sub(last))
			last = now
		}
	}
}

func (e *embedded) url() string { return "redis://" + e.redis.Addr() }

func (e *embedded) stop() {
	close(e.quit)
	e.clock.Wait()
	e.redis.Close()
}
