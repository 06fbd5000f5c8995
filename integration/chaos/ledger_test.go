package chaos

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// settles is how long after a failover a client may still use the former master.
const settles = 10 * time.Second

// stay is somebody's time inside a lock.
type stay struct {
	who  string
	hold *rlock.Hold // nil: it is Java's, which is not told of a loss
	void bool        // a fault may have taken it
}

// inside reports whether whoever stays is sure to be the only one.
func (s *stay) inside() bool { return !s.void && (s.hold == nil || s.hold.Err() == nil) }

// ledger has who is inside of which lock. Its methods are safe for concurrent use.
type ledger struct {
	mu       sync.Mutex // guards what follows
	stays    map[string][]*stay
	entries  map[string]int // by lock and side, and by lock
	losing   int            // faults under way that may lose data
	until    time.Time      // grants before it are void
	wrong    []string
	outcomes map[string]int
}

func newLedger() *ledger {
	return &ledger{stays: map[string][]*stay{}, entries: map[string]int{}, outcomes: map[string]int{}}
}

// enters records a grant, before anybody relies on it.
func (l *ledger) enters(lock, side, who string, h *rlock.Hold) *stay {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &stay{who, h, l.losing > 0 || time.Now().Before(l.until)}
	if s.inside() {
		for _, other := range l.stays[lock] {
			if other.inside() {
				l.violation("%s is inside of %s with %s", who, lock, other.who)
			}
		}
	}
	l.stays[lock] = append(l.stays[lock], s)
	l.entries[lock+" "+side]++
	return s
}

// leaves records that an unlock begins.
func (l *ledger) leaves(lock string, s *stay) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.hold != nil && !s.void && s.hold.Err() != nil {
		l.violation("%s lost %s, and nothing took it: %v", s.who, lock, s.hold.Err())
	}
	l.stays[lock] = slices.DeleteFunc(l.stays[lock], func(other *stay) bool { return other == s })
}

// loses records that a fault which may lose data begins. The caller calls over at its end.
func (l *ledger) loses() (over func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.losing++
	for _, all := range l.stays {
		for _, s := range all {
			s.void = true
		}
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.losing--
		l.until = time.Now().Add(settles)
	}
}

// returned counts how a call ended.
func (l *ledger) returned(call, how string, allowed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outcomes[call+": "+how]++
	if !allowed {
		l.violation("%s returned %s", call, how)
	}
}

// violation is called with mu held.
func (l *ledger) violation(format string, args ...any) {
	if len(l.wrong) < 20 {
		l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
	}
}

// seen returns a copy of how often each side has entered each lock.
func (l *ledger) seen() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.entries)
}
