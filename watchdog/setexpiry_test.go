package watchdog

import "time"

// setExpiry is Lower in both directions, for tests that want an end of trust at
// some instant.
func (l *Lease) setExpiry(expiry time.Duration) {
	w := l.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	if !l.alive() || l.expired() {
		return
	}
	w.setExpiry(l, expiry)
}
