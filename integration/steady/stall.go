package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// beat is how long a watching thread sleeps.
	beat = 10 * time.Millisecond
	// stalled is by how much its waking has to be late. A busy machine's scheduler lets a thread that slept run within a few
	// hundredths of a second.
	stalled = 250 * time.Millisecond
)

// stall is a time in which a core did not run what it should have run.
type stall struct{ from, to time.Time }

func (s stall) length() time.Duration { return s.to.Sub(s.from) }

// watch notes stalls.
type watch struct {
	mu     sync.Mutex
	stalls []stall
}

// watchStalls watches every core that this process may use, until it ends.
func watchStalls() (*watch, error) {
	var cores unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cores); err != nil {
		return nil, fmt.Errorf("which cores there are: %w", err)
	}
	w := &watch{}
	for core := range len(cores) * 64 {
		if cores.IsSet(core) {
			go w.sleep(core)
		}
	}
	return w, nil
}

// sleep watches one core.
func (w *watch) sleep(core int) {
	runtime.LockOSThread()
	var only unix.CPUSet
	only.Set(core)
	// A core that was taken away meanwhile is not watched; the thread still is.
	_ = unix.SchedSetaffinity(0, &only)
	pause := unix.NsecToTimespec(int64(beat))
	for {
		asleep := time.Now()
		_ = unix.Nanosleep(&pause, nil) // one that a signal ended early is followed by another
		if now := time.Now(); now.Sub(asleep) > beat+stalled {
			w.mu.Lock()
			w.stalls = append(w.stalls, stall{asleep.Add(beat), now})
			w.mu.Unlock()
		}
	}
}

// during is the longest stall that has a part in common with a time; zero for none.
func (w *watch) during(from, to time.Time) (longest time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.stalls {
		if s.from.Before(to) && s.to.After(from) {
			longest = max(longest, s.length())
		}
	}
	return longest
}
