package unlock

import (
	"time"

	"github.com/rlock-go/redisson/internal/section"
)

// setTimer calls LimitPassed after d, which tells the caller what is known.
func (r *releasing) setTimer(d time.Duration) {
	timers := &r.l.Client.Timers
	timers.Cancel(r.timer)
	r.timed = true
	r.timer = timers.After(max(d, 0)+time.Millisecond, func() {
		defer r.st.Name.Lock.Shard.Enter(section.MayBlock).Leave()
		if left := r.Limit - r.st.Name.Now(); left >= 0 && !r.Told() && !r.l.Client.Closed() {
			r.setTimer(left) // the client's clock is slower than the timer
			return
		}
		r.LimitPassed(r)
	})
}
