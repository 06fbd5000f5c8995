package background

import "time"

// The pause before something that failed is tried again doubles between these.
const (
	FirstPause = 20 * time.Millisecond  // after the first failure
	LastPause  = 500 * time.Millisecond // the longest
)

// NextPause is the pause that follows one of last; 0: there was none.
func NextPause(last time.Duration) time.Duration {
	return min(max(2*last, FirstPause), LastPause)
}
