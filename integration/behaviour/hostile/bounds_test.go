package hostile

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// heapBound is what a client may need on top of its usual heap: two connections, each with a reply of at most four
// megabytes, as bytes and decoded, before the garbage collector runs.
const heapBound = 48 << 20

// TestMemoryIsBoundedAndNothingStaysBehind runs alone, row by row: it looks at the whole process.
func TestMemoryIsBoundedAndNothingStaysBehind(t *testing.T) {
	greedy := slices.DeleteFunc(slices.Clone(misdeeds), func(m misdeed) bool {
		return !slices.Contains([]string{
			"a bulk string of a gigabyte", "an array that memory can't hold", "arrays in arrays without end",
			"a line without end", "a length without end", "an error of 60,000 bytes",
		}, m.what)
	})
	for _, p := range places {
		switch p.where {
		case "PING", "lock", "SUBSCRIBE":
		default:
			continue
		}
		t.Run(p.where, func(t *testing.T) {
			for _, m := range append(greedy, surplus...) {
				t.Run(m.what, func(t *testing.T) {
					grown := heapGrowth(t, func() { misbehaves(t, p, m, p.fails(m) && m.sort == deadly) })
					if grown > heapBound {
						t.Errorf("the heap grew by %d MiB", grown>>20)
					}
				})
			}
		})
	}
}

// liveHeap is what the last garbage collection left. Garbage that a busy machine collects late does not count.
func liveHeap() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// heapGrowth returns by how much the live heap exceeded its former size while do ran.
func heapGrowth(t *testing.T, do func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	runtime.GC()
	before := liveHeap()
	most := before
	done := make(chan struct{})
	var sampler sync.WaitGroup
	sampler.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, liveHeap())
			case <-done:
				return
			}
		}
	})
	do()
	close(done)
	sampler.Wait()
	if ours := leftGoroutines(); ours != "" {
		t.Errorf("after Close there is still:\n%s", ours)
	}
	return most - before
}

// leftGoroutines returns the stacks that are inside the library. All its goroutines have ended when Close returns. (One
// of redigo's may take a moment longer; TestMain looks for those.)
func leftGoroutines() string {
	// A goroutine that has signalled its end may take a moment to exit.
	left := libraryGoroutines()
	for deadline := time.Now().Add(time.Second); left != "" && time.Now().Before(deadline); left = libraryGoroutines() {
		runtime.Gosched()
	}
	return left
}

func libraryGoroutines() string {
	buf := make([]byte, 1<<20)
	var ours []string
	for stack := range bytes.SplitSeq(buf[:runtime.Stack(buf, true)], []byte("\n\n")) {
		for _, pkg := range []string{"redisson/rlock.", "redisson/pubsub.", "redisson/watchdog.", "redisson/internal/pipeline."} {
			if bytes.Contains(stack, []byte(pkg)) {
				ours = append(ours, string(stack))
				break
			}
		}
	}
	return strings.Join(ours, "\n\n")
}
