package main

import "runtime"

// liveBytes is what this process keeps: its heap after collection and the stacks of its goroutines.
func liveBytes() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}
