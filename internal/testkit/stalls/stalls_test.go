package stalls

import (
	"testing"
	"time"
)

func TestLatenessCountsFromAnInstantOn(t *testing.T) {
	t.Parallel()
	began := time.Now()
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	w := &watcher{woke: began}
	for _, ms := range []int{2, 4, 106, 108, 160, 162} { // late by 100 ms, then by 50 ms
		w.wakes(at(ms))
	}
	for _, row := range []struct{ from, now, want int }{
		{0, 162, 150}, {5, 162, 150}, {107, 162, 50}, {161, 162, 0},
		{161, 364, 200}, // it has not woken yet
	} {
		if got := w.since(at(row.from), at(row.now)); got != time.Duration(row.want)*time.Millisecond {
			t.Errorf("from %d to %d: %v, want %d ms", row.from, row.now, got, row.want)
		}
	}
}

func TestThreadThatCannotGoOnIsLate(t *testing.T) {
	began := time.Now()
	end := Watch()
	defer end()
	for time.Since(began) < 50*time.Millisecond {
		time.Sleep(time.Millisecond)
	}
	watchers[0].mu.Lock() // so that it can't wake
	time.Sleep(100 * time.Millisecond)
	watchers[0].mu.Unlock()
	time.Sleep(10 * time.Millisecond)
	if late := Since(began); late < 90*time.Millisecond {
		t.Errorf("late by %v", late)
	}
}
