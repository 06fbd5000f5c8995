package clock

import "time"

// The pause before a retry doubles from FirstPause to LastPause.
const (
	FirstPause = 20 * time.Millisecond  // after the first failure
	LastPause  = 500 * time.Millisecond // the longest
)

// NextPause is the pause after one of last. A last of 0 means that there was none.
func NextPause(last time.Duration) time.Duration {
	return min(max(2*last, FirstPause), LastPause)
}
