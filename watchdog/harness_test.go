package watchdog

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

const testTTL = 30 * time.Second

// newTerms gives a lease other terms of renewal, and leaves its expiry.
func newTerms(l *Lease, from, until time.Duration) { l.Live(l.Expiry(), from, until) }

// holder records its calls.
type holder struct {
	clock Clock

	mu     sync.Mutex // guards what follows
	losses []loss
	alarms []time.Duration
	onLost func(*Lease)
	onBell func(*Lease)
}

type loss struct {
	lease *Lease
	cause error
	at    time.Duration
}

func (h *holder) LeaseLost(l *Lease, cause error) {
	h.mu.Lock()
	h.losses = append(h.losses, loss{l, cause, h.clock.Now()})
	f := h.onLost
	h.mu.Unlock()
	if f != nil {
		f(l)
	}
}

func (h *holder) LeaseAlarm(l *Lease) {
	h.mu.Lock()
	h.alarms = append(h.alarms, h.clock.Now())
	f := h.onBell
	h.mu.Unlock()
	if f != nil {
		f(l)
	}
}

func (h *holder) lost() []loss {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.losses)
}

func (h *holder) rung() []time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.alarms)
}

// call is one batch as the server's side saw it.
type call struct {
	at     time.Duration
	batch  []*Lease
	answer func(int, Answer)
}

// server records batches and answers them with reply, if that is set.
type server struct {
	clock Clock
	reply func(call)

	mu    sync.Mutex // guards calls
	calls []call
}

func (s *server) renew(batch []*Lease, answer func(int, Answer)) {
	c := call{s.clock.Now(), slices.Clone(batch), answer}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	clear(batch) // the RenewFunc may change the batch
	if s.reply != nil {
		s.reply(c)
	}
}

func (s *server) seen() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *server) times() []time.Duration {
	var ts []time.Duration
	for _, c := range s.seen() {
		ts = append(ts, c.at)
	}
	return ts
}

func always(a Answer) func(call) {
	return func(c call) {
		for i := range c.batch {
			a.Sent = c.at
			c.answer(i, a)
		}
	}
}

var (
	renewed = Answer{Result: Renewed, TTL: testTTL}
	failed  = Answer{Result: Failed}
)

// world is a watchdog in a synctest bubble, whose clock follows the bubble's time.
type world struct {
	*Watchdog
	clock  clock.Clock
	server *server
	holder *holder
}

func newWorld(t *testing.T, reply func(call)) *world {
	t.Helper()
	c := clock.Monotonic()
	s := &server{clock: c, reply: reply}
	w := &world{New(s.renew, Options{TTL: testTTL, Clock: c}), c, s, &holder{clock: c}}
	t.Cleanup(w.Close)
	return w
}

// hold registers a lease that is live from now on and renewed.
func (w *world) hold() *Lease {
	l := w.Register(w.holder)
	now := w.clock.Now()
	l.Live(Trust(now, testTTL), now, Never)
	return l
}

func wantTimes(t *testing.T, what string, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s at %v, want %v", what, got, want)
	}
}

func wantLive(t *testing.T, w *Watchdog, live int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.live != live {
		t.Fatalf("%d leases are live, want %d", w.live, live)
	}
}

func wantLoss(t *testing.T, h *holder, l *Lease, cause error, at time.Duration) {
	t.Helper()
	got := h.lost()
	if len(got) != 1 || got[0] != (loss{l, cause, at}) {
		t.Fatalf("told %v, want one loss, %v at %v", got, cause, at)
	}
}

// setExpiry is Lower in both directions, for tests that set the end of trust.
func (l *Lease) setExpiry(expiry time.Duration) {
	w := l.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	if !l.alive() || l.expired() {
		return
	}
	w.setExpiry(l, expiry)
}
