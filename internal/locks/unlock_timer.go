package locks

import "time"

// setTimer calls LimitPassed after d, which tells the caller what is known.
func (r *releasing) setTimer(d time.Duration) {
	timers := &r.l.Client.timers
	timers.Cancel(r.timer)
	r.timed = true
	r.timer = timers.After(max(d, 0)+time.Millisecond, func() {
		defer r.st.name.lock.shard.enter(mayBlock).leave()
		if left := r.Limit - r.st.name.Now(); left >= 0 && !r.Told() && !r.l.Client.Closed() {
			r.setTimer(left) // the client's clock is slower than the timer
			return
		}
		r.LimitPassed(r)
	})
}
