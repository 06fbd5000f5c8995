package wire

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
)

// A tick asks for a lock that is lost, and a later one asks again: at the same moment it may not know yet, a third of the
// timeout later it must.
func TestALostLockThatIsAskedForAgainIsSeen(t *testing.T) {
	ask := func(after time.Duration) step {
		begin := time.Unix(1, 0).Add(after)
		return step{role: "renew", tick: &tick{
			lease: "3000", locks: map[string]string{"a": "int 1", "b": "int 0"}, sent: begin, answered: begin.Add(time.Millisecond),
		}}
	}
	for _, c := range []struct {
		after time.Duration
		steps int
	}{
		{500 * time.Microsecond, 1}, {5 * time.Millisecond, 1}, {ticking / 3, 2},
	} {
		if got := mergeTicks([]step{ask(0), ask(c.after)}); len(got) != c.steps {
			t.Errorf("asked again after %v: %d steps, want %d", c.after, len(got), c.steps)
		}
	}
	// However many ask at once, what comes when the next tick is due is one more.
	if got := mergeTicks([]step{ask(0), ask(time.Millisecond), ask(2 * time.Millisecond), ask(time.Second)}); len(got) != 2 {
		t.Errorf("%d steps, want 2", len(got))
	}
}

// A renewal that comes when the lease may be over is the machine's doing, one that comes in time and is told 0 is not.
func TestALeaseThatRanOutBeforeItsRenewalIsSeen(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1, 0).Add(time.Duration(ms) * time.Millisecond) }
	lock := func(ms int) faultproxy.Exchange {
		return faultproxy.Exchange{Cmd: []string{"EVALSHA", lockSHA, "1", "a", "3000", "owner"}, Sent: at(ms), Answered: at(ms + 2)}
	}
	renew := func(ms int, told int64) faultproxy.Exchange {
		return faultproxy.Exchange{Cmd: []string{"EVALSHA", "0", "2", "a", "b", "3000", "owner", "owner"}, Reply: []any{told, told}, Sent: at(ms), Answered: at(ms + 2)}
	}
	for _, c := range []struct {
		why   string
		all   []faultproxy.Exchange
		now   int
		lapse bool
	}{
		{"nothing yet", nil, 9000, false},
		{"in time", []faultproxy.Exchange{lock(0), renew(1000, 1), renew(2000, 1)}, 2100, false},
		{"in time and lost", []faultproxy.Exchange{lock(0), renew(1000, 0)}, 1100, false},
		{"a renewal just in time", []faultproxy.Exchange{lock(0), renew(2997, 1)}, 3100, false},
		{"the first too late", []faultproxy.Exchange{lock(0), renew(2998, 0)}, 3100, true},
		{"the second too late", []faultproxy.Exchange{lock(0), renew(1000, 1), renew(4000, 1)}, 4100, true},
		{"looked at too late", []faultproxy.Exchange{lock(0), renew(1000, 1)}, 4000, true},
		{"not answered yet", []faultproxy.Exchange{lock(0), {Cmd: renew(2998, 0).Cmd, Sent: at(2998)}}, 2999, false},
	} {
		if got := lapse(c.all, "a", 3*time.Second, at(c.now)); got != c.lapse {
			t.Errorf("%s: %v, want %v", c.why, got, c.lapse)
		}
	}
}
