package topology

import (
	"cmp"
	"sync"
)

// maxRenewals is how many batches of renewals may be in flight to one server. Each
// occupies the server for a twelfth of a millisecond, and after an outage all are due
// at once. 32 are enough for 80,000 locks at a round trip of 100 ms. In a cluster a
// batch is up to 25 scripts, in one write.
const maxRenewals = 32

// maxSynced is the same limit if WAIT follows the batches. All that are in flight share
// one WAIT, which takes a second while a replica is silent, and no other batch is
// written meanwhile. 256 are enough for 64,000 locks in a third of 30 s.
const maxSynced = 256

// Limiter bounds how many batches of renewals are in flight to one server. The others
// wait here, in order, and do not block their owners' command queues meanwhile. The
// zero value is ready.
type Limiter struct {
	most int // batches in flight; 0: maxRenewals; never changes

	mu      sync.Mutex // guards what follows
	running int
	waiting []func() bool
}

// Run calls begin when the batch may run: at once, or later on a goroutine that calls
// Done. begin reports whether the batch is in flight after the call; if so, Done must
// be called when the batch ends.
func (l *Limiter) Run(begin func() bool) {
	l.mu.Lock()
	if l.running == cmp.Or(l.most, maxRenewals) {
		l.waiting = append(l.waiting, begin)
		l.mu.Unlock()
		return
	}
	l.running++
	l.mu.Unlock()
	if !begin() {
		l.Done()
	}
}

// Done ends a batch, and calls the begin of the next one.
func (l *Limiter) Done() {
	for {
		l.mu.Lock()
		if len(l.waiting) == 0 {
			l.running--
			l.waiting = nil
			l.mu.Unlock()
			return
		}
		begin := l.waiting[0]
		l.waiting[0] = nil
		l.waiting = l.waiting[1:]
		l.mu.Unlock()
		if begin() {
			return
		}
	}
}
