package lease

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/watchdog"
)

const (
	full = 30 * time.Second // by how much the watchdog extends
	late = 40 * time.Second // how long a lost command may still run
	ms   = time.Millisecond
)

// hold is a hold of the model.
type hold struct{ promise Promise }

// command is a command that sets the lease and was not answered.
type command struct{ sent, lease, until time.Duration }

// model is the server's key and the client that uses this package. It is slow and obvious: it keeps every command
// that may still run, and when the server drops the key.
type model struct {
	t       *testing.T
	rng     *rand.Rand
	now     time.Duration
	expires time.Duration // when the server drops the key
	holds   []*hold
	shared  time.Duration // the watchdog's expiry
	late    Late
	may     []command // commands that may still run
	log     []string
}

func (m *model) note(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf("%v ", m.now)+fmt.Sprintf(format, args...))
}

func (m *model) sum(but *hold) Sum {
	sum := Of(m.now, full, 0)
	for _, h := range m.holds {
		if h != but {
			sum.Add(&h.promise, h.promise.End, m.shared)
		}
	}
	return sum
}

// slowLease finds by trial the shortest lease in whole ms that is enough.
func (m *model) slowLease(but *hold, own time.Duration) time.Duration {
	enough := func(d time.Duration) bool {
		if d < own || d < ms {
			return false
		}
		for _, h := range m.holds {
			switch p := h.promise; {
			case h == but:
			case p.Fixed && m.now+d < p.Until:
				return false
			case !p.Fixed && m.now < p.Until && d < full:
				return false
			case !p.Fixed && watchdog.Trust(m.now, d) < min(p.End, m.shared):
				return false
			}
		}
		return true
	}
	low, high := time.Duration(0), 24*time.Hour/ms
	for low < high { // a longer lease is always enough
		if mid := (low + high) / 2; enough(mid * ms) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return max(low*ms, own)
}

// passes returns the lease of a command, after comparing both computations.
func (m *model) passes(but *hold, own time.Duration) time.Duration {
	m.t.Helper()
	sum := m.sum(but)
	got, want := sum.Lease(own), m.slowLease(but, own)
	if got < want || got > want+ms { // Lasting adds a few nanoseconds
		m.t.Fatalf("a command passes %v, and %v is enough", got, want)
	}
	var renewed time.Duration
	for _, h := range m.holds {
		if h != but && !h.promise.Fixed {
			renewed = max(renewed, h.promise.Until)
		}
	}
	if sum.RenewUntil != renewed {
		m.t.Fatalf("renewed until %v, want %v", sum.RenewUntil, renewed)
	}
	return got
}

// send sends a command that sets lease. It returns when it was sent and whether it was answered.
func (m *model) send(what string, lease time.Duration) (sent time.Duration, answered bool) {
	sent = m.now
	m.now += time.Duration(m.rng.Int64N(int64(200 * ms)))
	ran := m.now
	m.now += time.Duration(m.rng.Int64N(int64(200 * ms)))
	switch n := m.rng.IntN(10); {
	case n < 7:
		m.expires = ran + lease
		m.note("%s of %v, answered", what, lease)
		return sent, true
	case n < 9: // its connection was killed, so it has run by now or never will
		if m.rng.IntN(2) == 0 {
			m.expires = ran + lease
		}
		m.note("%s of %v, lost", what, lease)
	default:
		m.may = append(m.may, command{sent, lease, m.now + late})
		m.late.Add(lease, m.now+late)
		m.note("%s of %v, lost, and may run", what, lease)
	}
	m.shared = min(m.shared, watchdog.Trust(sent, lease))
	return sent, false
}

// leased is called after the answer to a command that sets the lease.
func (m *model) leased(sent, lease time.Duration) {
	m.shared = watchdog.Trust(sent, m.late.Least(sent, lease))
}

func (m *model) step() {
	switch n := m.rng.IntN(12); {
	case n < 3:
		m.acquires()
	case n < 5 && len(m.holds) > 0: // one hold is released, and the others are kept
		i := m.rng.IntN(len(m.holds))
		m.holds = slices.Delete(m.holds, i, i+1)
		if len(m.holds) == 0 {
			m.expires, m.shared, m.may = 0, clock.Never, nil // the server has dropped the key
			m.late = Late{}
			return
		}
		lease := m.passes(nil, 0)
		if sent, ok := m.send("unlock", lease); ok {
			m.leased(sent, lease)
		}
	case n < 8 && len(m.holds) > 0:
		if sum := m.sum(nil); m.now > sum.RenewUntil {
			return // the watchdog extends none
		}
		lease := m.passes(nil, full)
		if sent, ok := m.send("renewal", lease); ok {
			m.leased(sent, lease)
		}
	case n < 9 && len(m.holds) > 0:
		m.extends(m.holds[m.rng.IntN(len(m.holds))])
	case n < 10 && len(m.may) > 0:
		i := m.rng.IntN(len(m.may))
		c := m.may[i]
		m.may = slices.Delete(m.may, i, i+1)
		if m.now < c.until && len(m.holds) > 0 {
			m.expires = m.now + c.lease
			m.note("one that was lost runs")
		}
	default:
		m.now += time.Duration(m.rng.Int64N(int64(12 * time.Second)))
	}
}

func (m *model) acquires() {
	p, own := Watched, full
	switch m.rng.IntN(3) {
	case 0:
		own = time.Duration(1+m.rng.IntN(60_000)) * ms
		p = Fixed(0, own)
	case 1:
		p = Bounded(m.now+time.Duration(m.rng.IntN(60_000))*ms, full)
	}
	lease := m.passes(nil, own)
	sent, ok := m.send("acquire", lease)
	if !ok {
		return
	}
	if p.Fixed {
		p = Fixed(sent, own)
	}
	m.holds = append(m.holds, &hold{promise: p})
	m.leased(sent, lease)
}

func (m *model) extends(h *hold) {
	if !h.promise.Fixed {
		return
	}
	d := time.Duration(1+m.rng.IntN(60_000)) * ms
	lease := m.passes(h, d)
	sent, ok := m.send("extend", lease)
	if !ok {
		h.promise.End = min(h.promise.End, watchdog.Trust(sent, d))
		return
	}
	h.promise = Fixed(sent, d)
	m.leased(sent, lease)
}

// loses ends the holds whose trust has ended, as a client does.
func (m *model) loses() {
	m.holds = slices.DeleteFunc(m.holds, func(h *hold) bool { return m.now >= min(h.promise.End, m.shared) })
	if len(m.holds) == 0 {
		m.expires, m.shared, m.may, m.late = 0, clock.Never, nil, Late{}
	}
}

// holdsTrue checks that no hold is trusted for longer than the server keeps the key, whichever of the lost commands
// still run.
func (m *model) holdsTrue() {
	m.t.Helper()
	m.late.Left(m.now)
	for _, h := range m.holds {
		trusted := min(h.promise.End, m.shared)
		if trusted > m.expires {
			m.t.Fatalf("trusted until %v, and the server drops it at %v", trusted, m.expires)
		}
		for _, c := range m.may { // in the worst case it runs now
			if m.now < c.until && trusted > max(m.now, c.sent)+c.lease {
				m.t.Fatalf("trusted until %v, and a lost command may cut it to %v", trusted, max(m.now, c.sent)+c.lease)
			}
		}
	}
}

// TestWhatIsTrustedIsThere compares a random life of an owner with the model: each command passes a lease that is
// long enough and hardly longer, and no hold is trusted for longer than the server keeps the key, even if lost
// commands still run.
func TestWhatIsTrustedIsThere(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 60
	}
	ended := 0
	for seed := range seeds {
		m := &model{t: t, rng: rand.New(rand.NewPCG(seed, 6)), now: time.Hour, shared: clock.Never}
		for range 200 {
			m.loses()
			m.step()
			before := len(m.holds)
			m.loses()
			ended += before - len(m.holds)
			if m.holdsTrue(); t.Failed() {
				t.Fatalf("seed %d: %q", seed, m.log)
			}
		}
	}
	if ended < int(seeds) {
		t.Errorf("%d holds were lost only", ended)
	}
}

// TestNoCommandCutsWhatALivingHoldWasPromised shows that the server keeps the key for as long as each hold was
// promised, if no command is lost.
func TestNoCommandCutsWhatALivingHoldWasPromised(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		now, expires := time.Hour, time.Duration(0)
		var holds []Promise
		for range 50 {
			sum := Of(now, full, 0)
			for i := range holds {
				sum.Add(&holds[i], holds[i].End, watchdog.Trust(now, expires-now))
			}
			if rng.IntN(2) == 0 || len(holds) == 0 {
				own := time.Duration(1+rng.IntN(60_000)) * ms
				expires = now + sum.Lease(own)
				holds = append(holds, Fixed(now, own))
			} else {
				expires = now + sum.Lease(0)
			}
			for _, p := range holds {
				if p.Until > expires {
					t.Fatalf("seed %d: promised until %v, and the server drops it at %v", seed, p.Until, expires)
				}
			}
			now += time.Duration(rng.IntN(5000)) * ms
			holds = slices.DeleteFunc(holds, func(p Promise) bool { return now >= p.End })
		}
	}
}

func TestLateCommands(t *testing.T) {
	var l Late
	if l.Left(0) != 0 || l.Least(0, full) != full {
		t.Error("the zero Late has some")
	}
	l.Add(full, late)
	l.Add(2*full, 2*late) // it is longer, so it cuts less
	for now, want := range map[time.Duration]time.Duration{0: full, 2*late - 1: full, 2 * late: 2 * full} {
		if got := l.Least(now, 2*full); got != want {
			t.Errorf("sent at %v, %v is left", now, got)
		}
	}
	if left := l.Left(late); left != late {
		t.Errorf("%v are left", left)
	}
	if l.Left(2 * late); l != (Late{}) {
		t.Errorf("it is over, and there is %+v", l)
	}
}

// An asserted fixed lease is renewed for its remaining time until it ends, unless the watchdog extends another hold.
func TestAssertedLeaseIsRenewedByWhatIsLeft(t *testing.T) {
	fixed, watched, over := Fixed(0, 50*time.Second), Watched, Bounded(5*time.Second, full)
	for _, row := range []struct {
		holds []Promise
		until time.Duration
		only  bool
		lease time.Duration
	}{
		{[]Promise{fixed}, 50 * time.Second, true, 40 * time.Second},
		{[]Promise{fixed, watched}, clock.Never, false, 40 * time.Second},
		{[]Promise{watched}, clock.Never, false, full},
		{[]Promise{fixed, over}, 50 * time.Second, true, 40 * time.Second},
	} {
		sum := Of(10*time.Second, full, 0)
		for _, p := range row.holds {
			sum.Add(&p, p.End, 30*time.Second)
			sum.Assert(&p)
		}
		if sum.RenewUntil != row.until || sum.Extends == row.only || sum.Lease(0) != row.lease {
			t.Errorf("%v: until %v, extends %v, lease %v", row.holds, sum.RenewUntil, sum.Extends, sum.Lease(0))
		}
	}
}
