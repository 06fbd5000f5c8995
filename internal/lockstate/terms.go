package lockstate

import (
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// Terms are what one acquisition asks for.
type Terms struct {
	Lease    time.Duration // fixed; 0: the watchdog extends it
	MaxHold  time.Duration // 0: no bound
	Owner    Owner         // who acquires, with As; else a new owner does
	As       bool          // Owner is given
	HasLease bool          // Lease is given
	HasMax   bool          // MaxHold is given
}

// later is an instant d after another, or Never if there is none so late.
func later(at, d time.Duration) time.Duration {
	if d > clock.Never-at {
		return clock.Never
	}
	return at + d
}
