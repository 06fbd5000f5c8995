package timeline

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/torture/internal/checker"
	"github.com/rlock-go/redisson/integration/torture/internal/schedule"
)

const (
	// span is how much of a run's end is drawn.
	span = 60 * time.Second
	// mostBars bounds the page; of more, the shortest go.
	mostBars = 6000
)

// Timeline collects the end of a run. All methods are safe for concurrent use.
type Timeline struct {
	start int64

	mu      sync.Mutex // guards what follows
	windows []checker.Window
	faults  []Fault
	latest  int64
}

// Fault is a fault as it was played.
type Fault struct {
	schedule.Fault
	From, To int64
}

// New begins a timeline at an instant.
func New(start int64) *Timeline { return &Timeline{start: start} }

// Window adds one.
func (t *Timeline) Window(w checker.Window) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.windows = append(t.windows, w)
	t.latest = max(t.latest, w.To)
	if len(t.windows) > 4*mostBars {
		t.trim()
	}
}

// Fault adds one.
func (t *Timeline) Fault(f Fault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults = append(t.faults, f)
	t.latest = max(t.latest, f.To)
}

// trim drops what will not be drawn, and returns from when on it is.
func (t *Timeline) trim() (from int64) {
	from = max(t.start, t.latest-span.Nanoseconds())
	t.windows = slices.DeleteFunc(t.windows, func(w checker.Window) bool { return w.To < from })
	t.faults = slices.DeleteFunc(t.faults, func(f Fault) bool { return f.To < from })
	return from
}

// longest drops the shortest windows, but none that a fault cut, and tells how many went.
func (t *Timeline) longest() int {
	more := len(t.windows) - mostBars
	if more <= 0 {
		return 0
	}
	length := func(w checker.Window) int64 {
		if w.Void != "" {
			return math.MaxInt64
		}
		return w.To - w.From
	}
	slices.SortStableFunc(t.windows, func(a, b checker.Window) int { return cmp.Compare(length(b), length(a)) })
	t.windows = t.windows[:mostBars]
	return more
}
