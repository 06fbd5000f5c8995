package watchdog

import (
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// Never is an instant that no [Clock] reaches.
const Never = clock.Never

// Clock measures the time elapsed since its origin by its method Now, suspend included
// where the system can tell. Its readings never go back. It must be safe for concurrent
// use.
type Clock = clock.Clock

// Trust is the instant until which a lease of ttl that was requested at sent can be
// relied on. The server cannot have started to count before sent, and one percent,
// rounded up, covers clocks that run at different rates. A ttl of Never, or a sum beyond
// Never, is Never; a negative ttl counts as 0.
func Trust(sent, ttl time.Duration) time.Duration {
	if ttl == Never {
		return Never
	}
	ttl = max(ttl, 0)
	margin := ttl/100 + min(ttl%100, 1)
	return clock.Later(sent, ttl-margin)
}

// Lasting is the ttl to request now so that trust lasts for d: Trust(0, Lasting(d)) is d
// or a few nanoseconds more. It is 0 for a d of 0 or less, and Never for Never.
func Lasting(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return clock.Later(d, d/99+2)
}
