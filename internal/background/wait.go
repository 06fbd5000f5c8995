package background

import (
	"context"
	"time"
)

// Signal wakes the one goroutine that receives from c, which has room for one, now or
// when it next receives.
func Signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Sleep waits for d. It returns earlier, and reports false, when ctx ends.
func Sleep(ctx context.Context, d time.Duration) bool {
	if d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}
