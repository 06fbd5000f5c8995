package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// usage is what a process has used so far.
type usage struct {
	cpu            time.Duration
	mallocs, bytes uint64 // of this process only
}

// ownUsage returns the usage of this process, in which all Go peers run.
func ownUsage() (usage, error) {
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		return usage{}, err
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{time.Duration(ru.Utime.Nano() + ru.Stime.Nano()), m.Mallocs, m.TotalAlloc}, nil
}

// processCPU returns the usage of another process, in steps of 10 ms.
func processCPU(pid int) (_ usage, err error) {
	defer caught(&err)
	b := must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))
	// The second field is a name in parentheses, which may have spaces.
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	var user, system int64
	if len(fields) < 13 {
		return usage{}, fmt.Errorf("/proc/%d/stat: %q", pid, b)
	}
	must(fmt.Sscan(fields[11]+" "+fields[12], &user, &system))
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux
	return usage{cpu: time.Duration(user+system) * tick}, nil
}

func usageOf(pid int) func() (usage, error) { return func() (usage, error) { return processCPU(pid) } }

// liveBytes returns the live memory of this process: its heap after collection and the stacks of its goroutines.
func liveBytes() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}
