package wire

import (
	"testing"
	"time"
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
