package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/rlock"
)

// toldPart is how soon a holder learns that it has lost its lock. It runs only when it is named.
const toldPart = "told"

const (
	// toldHolds are held at the same time. Each is lost after the other, but for FLUSHALL.
	toldHolds = 25

	// toldAge is how long they are held before: rlock watches no younger ones.
	toldAge = 5300 * time.Millisecond

	// toldLimit is the longest that a holder waits to be told: rlock's renewal comes before.
	toldLimit = 12 * time.Second
)

// teller is a handle that tells of its loss.
type teller interface{ over() <-chan struct{} }

func (h *oursHandle) over() <-chan struct{} { return h.h.Done() }

// losses are what takes a lock away; keys are its own. FLUSHALL takes all.
var losses = []struct {
	name string
	do   func(r *run, name string, keys []any) error
}{
	{"DEL", func(r *run, _ string, keys []any) error { return r.server.do("DEL", keys...) }},
	{"PEXPIRE 1", func(r *run, _ string, keys []any) error { return r.server.do("PEXPIRE", keys[0], 1) }},
	{"taken by another", func(r *run, _ string, keys []any) error {
		return r.server.do("EVAL", "redis.call('del', KEYS[1]) redis.call('hset', KEYS[1], 'another', 1)", 1, keys[0])
	}},
	{"ForceUnlock elsewhere", nil},
	{"FLUSHALL", func(r *run, _ string, _ []any) error { return r.server.do("FLUSHALL") }},
}

// do is a command of which only the error matters.
func (s *server) do(command string, args ...any) error {
	_, err := s.conn.Do(command, args...)
	return err
}

// runTold measures from a loss until the holder is told, of peers that tell.
func runTold(r *run) error {
	for range r.sizes.rounds {
		for _, loss := range losses {
			for _, name := range []string{ours, beforeP, rueidisP} {
				if findPeer(name) == nil || !r.wants(name) || loss.do == nil && name != ours {
					continue
				}
				if err := r.told(name, loss.name, loss.do); err != nil {
					if err := r.failed(name, loss.name, err); err != nil {
						return err
					}
				}
			}
		}
		for _, name := range []string{ours, rueidisP} {
			if findPeer(name) == nil || !r.wants(name) {
				continue
			}
			if err := r.toldOfFailover(name); err != nil {
				if err := r.failed(name, lostFailover, err); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *run) told(peer, loss string, do func(r *run, name string, keys []any) error) error {
	c, err := findPeer(peer).open(r.server.addr)
	if err != nil {
		return err
	}
	defer c.close()
	defer r.server.clear()
	all, err := holdTold(c)
	if err != nil || all == nil {
		return err
	}
	time.Sleep(toldAge)
	if keys, err := r.server.info("stats", "tracking_total_keys"); err == nil {
		r.add(toldPart, peer, loss, "tracked keys", keys)
	}
	elsewhere, err := rlock.Open(context.Background(), "redis://"+r.server.addr)
	if err != nil {
		return err
	}
	defer elsewhere.Close()
	var told notices
	for i, t := range all {
		keys, err := redis.Values(r.server.conn.Do("KEYS", "*"+toldName(i)+"*"))
		switch {
		case err != nil:
			return err
		case len(keys) == 0:
			return fmt.Errorf("%s has no key", toldName(i))
		}
		began := time.Now()
		if loss == "FLUSHALL" {
			for _, t := range all {
				told.wait(t, began)
			}
			if err := do(r, toldName(i), keys); err != nil {
				return err
			}
			break
		}
		told.wait(t, began)
		if do == nil {
			_, err = elsewhere.NewLock(toldName(i)).ForceUnlock(context.Background())
		} else {
			err = do(r, toldName(i), keys)
		}
		if err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	told.all.Wait()
	r.addTold(peer, loss, told.took)
	return nil
}

func toldName(i int) string { return fmt.Sprintf("told:%02d:", i) }

// holdTold takes all locks; none if the client's handles don't tell.
func holdTold(c client) (all []teller, err error) {
	for i := range toldHolds {
		h := c.handle(toldName(i))
		if err := h.lock(context.Background()); err != nil {
			return nil, err
		}
		t, tells := h.(teller)
		if !tells {
			return nil, nil
		}
		all = append(all, t)
	}
	return all, nil
}

// notices are when holders were told, in µs since what each waits from.
type notices struct {
	all  sync.WaitGroup
	mu   sync.Mutex
	took []float64
}

// wait goes on beside the caller, until t is told or toldLimit is over.
func (n *notices) wait(t teller, since time.Time) {
	over := t.over()
	n.all.Go(func() {
		select {
		case <-over:
		case <-time.After(toldLimit):
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.took = append(n.took, float64(time.Since(since).Microseconds()))
	})
}

func (r *run) addTold(peer, loss string, took []float64) {
	r.add(toldPart, peer, loss, "p50 µs", quantile(took, 0.5))
	r.add(toldPart, peer, loss, "p99 µs", quantile(took, 0.99))
	r.say("told, %s, %s: p50 %.0f µs, p99 %.0f µs", peer, loss, quantile(took, 0.5), quantile(took, 0.99))
}
