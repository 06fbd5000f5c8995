package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// timeline prints who does what, and when, counted from the start.
type timeline struct {
	start time.Time
	mu    sync.Mutex // keeps lines whole
	out   io.Writer
}

func newTimeline(out io.Writer) *timeline { return &timeline{start: time.Now(), out: out} }

func (t *timeline) elapsed() time.Duration { return time.Since(t.start) }

// at is an instant as the timeline counts.
func (t *timeline) at(instant time.Time) string {
	return fmt.Sprintf("%.2f s", instant.Sub(t.start).Seconds())
}

// says is a line of the story.
func (t *timeline) says(who *service, format string, args ...any) {
	t.note("%6.2f s  %-8s  %s", t.elapsed().Seconds(), who.name, fmt.Sprintf(format, args...))
}

// title begins a part of it.
func (t *timeline) title(s string) { t.note("\n%s", s) }

// note is a line beside the story.
func (t *timeline) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, format+"\n", args...)
}

// ms shows a duration that is short.
func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond)) }
