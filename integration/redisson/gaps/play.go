package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

const (
	usual    = 3 * time.Second  // command timeout of both
	lease    = 30 * time.Second // of both, by default
	lasts    = 50 * time.Second // of a fault: a hold that nobody renews is lost meanwhile
	patience = 100 * time.Second
	attempt  = 5 * time.Second // each caller's wait for a lock
	between  = 50 * time.Millisecond
	holds    = 6
)

// The sides of a play, and what their callers enter again and again.
var (
	sides = []string{"Go", "Java"}
	kinds = []string{"plain", "fenced", "semaphore"}
)

// side is a client.
type side interface {
	hold(name string) (kept func() bool, err error)
	enter(kind, name string) (leave func(), err error)
	set(name string) error // makes a semaphore, with more permits than lost calls can take
}

// result is what a fault did.
type result struct {
	fault
	gaps map[string]time.Duration // by side and kind: the longest time without an entry
	kept map[string]int           // holds, by side
}

// play opens both sides, has them hold and enter names, strikes, and records what became of that.
func (f fault) play(t testing.TB, r *result) {
	at := f.start(t)
	timeout := max(f.timeout, usual)
	open := map[string]side{
		"Go":   goSide{must(t)(rlock.Open(context.Background(), at.url, rlock.WithCommandTimeout(timeout)))},
		"Java": javaSide{javapeer.Start(t, javapeer.Newest, at.url, javapeer.CommandTimeout(timeout))},
	}
	defer func() { go open["Go"].(goSide).c.Close() }() // servers that hang may keep it
	kept := map[string][]func() bool{}
	var loops sync.WaitGroup
	var over sync.Once
	ended := make(chan struct{})
	stop := func() { over.Do(func() { close(ended) }) }
	defer stop()
	var mu sync.Mutex // guards entries
	entries := map[string][]time.Time{}
	for _, name := range sides {
		s := open[name]
		if err := s.set(at.names[0] + name + " semaphore"); err != nil {
			t.Fatal(err)
		}
		for i := range holds {
			k, err := s.hold(fmt.Sprint(at.names[i%len(at.names)], name, " held ", i))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			kept[name] = append(kept[name], k)
		}
		for _, kind := range kinds {
			loops.Go(func() {
				for !isClosed(ended) {
					if leave, err := s.enter(kind, at.names[0]+name+" "+kind); err == nil {
						mu.Lock()
						entries[name+kind] = append(entries[name+kind], time.Now())
						mu.Unlock()
						leave()
					} else if kind == "semaphore" {
						_ = s.set(at.names[0] + name + " " + kind) // on servers that have none
					}
					<-time.After(between)
				}
			})
		}
	}
	// since counts the loops that have entered after an instant.
	since := func(at time.Time) (n int) {
		mu.Lock()
		defer mu.Unlock()
		for _, all := range entries {
			if all[len(all)-1].After(at) {
				n++
			}
		}
		return n
	}
	loopsOf := len(sides) * len(kinds)
	for began := time.Now(); since(began.Add(lease/6)) < loopsOf; <-time.After(between) {
		if time.Since(began) > patience {
			t.Fatalf("%v: not all have entered", f)
		}
	}
	struck := time.Now()
	at.strike()
	// The last entry before the end must be one of the time in which the servers had settled.
	for time.Since(struck) < lasts || since(time.Now().Add(-lease/6)) < loopsOf && time.Since(struck) < patience {
		<-time.After(between)
	}
	now := time.Now()
	r.gaps, r.kept = map[string]time.Duration{}, map[string]int{}
	mu.Lock()
	for who, all := range entries {
		r.gaps[who] = longest(slices.Clone(all), struck, now)
	}
	mu.Unlock()
	stop()
	for _, name := range sides {
		for _, k := range kept[name] {
			if k() {
				r.kept[name]++
			}
		}
	}
}

// longest returns the longest time without an entry from an instant on.
func longest(entries []time.Time, from, to time.Time) (gap time.Duration) {
	for _, at := range append(entries, to) {
		if at.After(from) {
			gap, from = max(gap, at.Sub(from)), at
		}
	}
	return gap
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func must(t testing.TB) func(c *rlock.Client, err error) *rlock.Client {
	return func(c *rlock.Client, err error) *rlock.Client {
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
}

type goSide struct{ c *rlock.Client }

func (s goSide) hold(name string) (kept func() bool, err error) {
	h, err := s.c.NewLock(name).TryLock(context.Background())
	return func() bool { return h.Err() == nil && h.Unlock(context.Background()) == nil }, err
}

func (s goSide) set(name string) error {
	_, err := s.c.NewSemaphore(name).TrySetPermits(context.Background(), 1000)
	return err
}

func (s goSide) enter(kind, name string) (leave func(), err error) {
	ctx := context.Background()
	if kind == "semaphore" {
		sem := s.c.NewSemaphore(name)
		return func() { _ = sem.Release(ctx, 1) }, sem.TryAcquireFor(ctx, 1, attempt)
	}
	l := s.c.NewLock(name)
	if kind == "fenced" {
		l = s.c.NewFencedLock(name)
	}
	h, err := l.TryLockFor(ctx, attempt)
	return func() { _ = h.Unlock(ctx) }, err
}

// javaSide has a thread a name, so that a lock that a lost call took is entered again by its owner.
type javaSide struct{ p *javapeer.Peer }

func (s javaSide) hold(name string) (kept func() bool, err error) {
	ctx, t := context.Background(), s.p.Thread(name)
	got, err := t.TryLock(ctx, name)
	if err == nil && !got.Bool() {
		err = rlock.ErrLocked
	}
	return func() bool {
		held, err := t.IsHeld(ctx, name)
		if err != nil || !held.Bool() {
			return false
		}
		_, err = t.Unlock(ctx, name)
		return err == nil
	}, err
}

func (s javaSide) set(name string) error {
	_, err := s.p.Thread(name).Of("semaphore").Call(context.Background(), name, "trysetpermits", 1000)
	return err
}

func (s javaSide) enter(kind, name string) (leave func(), err error) {
	ctx, t := context.Background(), s.p.Thread(name)
	var got javapeer.Reply
	switch kind {
	case "semaphore":
		t = t.Of("semaphore")
		leave = func() { _, _ = t.Call(ctx, name, "release", 1) }
		got, err = t.Call(ctx, name, "tryacquirefor", 1, attempt)
	case "fenced":
		t = t.Of(javapeer.Fenced)
		fallthrough
	default:
		leave = func() { _, _ = t.Unlock(ctx, name) }
		got, err = t.TryLockFor(ctx, name, attempt, javapeer.Watchdog)
	}
	if err == nil && !got.Bool() {
		err = rlock.ErrLocked
	}
	return leave, err
}
