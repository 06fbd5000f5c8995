package clock

import (
	"context"
	"time"
)

// Signal wakes a goroutine that receives from c, now or when it next receives. c has room
// for one. Signal never blocks, and does nothing if a signal is pending.
func Signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Sleep waits for d, or until ctx ends. It reports whether ctx has not ended.
func Sleep(ctx context.Context, d time.Duration) bool {
	if d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// The pause before a retry doubles from FirstPause to LastPause.
const (
	FirstPause = 20 * time.Millisecond  // after the first failure
	LastPause  = 500 * time.Millisecond // the longest
)

// NextPause is the pause after one of last. A last of 0 means that there was none.
func NextPause(last time.Duration) time.Duration {
	return min(max(2*last, FirstPause), LastPause)
}
