package topology

import (
	"cmp"
	"sync"
)

// maxRenewals is how many batches of renewals a server may be busy with. Each
// keeps it from everybody else for a twelfth of a millisecond, and after an
// outage all of them are due; 32 are enough for 80,000 locks at a round
// trip of 100 ms. In a cluster a batch is up to 25 scripts, in one write.
const maxRenewals = 32

// maxSynced is the same where WAIT follows them: all that are on their way share
// one, which takes a second while a replica is silent, and no other is written
// meanwhile. So many are enough for 64,000 locks in a third of 30 s.
const maxSynced = 256

// Limiter bounds how many batches of renewals are on their way to one server;
// the others wait here, in order, and their owners' command queues stay free
// meanwhile. The zero value is ready.
type Limiter struct {
	most int // how many at the same time; 0: maxRenewals; never changes

	mu      sync.Mutex // guards what follows
	running int
	waiting []func() bool
}

// Run calls begin when it may run, here or on the goroutine of a Done. begin
// reports whether the batch is under way after the call; then Done
// must be called.
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

// Done lets the next batch run.
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
