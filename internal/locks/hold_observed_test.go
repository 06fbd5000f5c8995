package locks

import (
	"testing"
	"time"
)

// A release and its caller refer to one call. The caller tells what it has seen, and may come last.
func TestCallIsUsedAgainWhenBothHaveLeft(t *testing.T) {
	t.Parallel()
	c := newClient(t, "redis://localhost:1", 2*time.Second)
	c.keepsCommands = true
	call := c.call(t.Context())
	for _, there := range []bool{true, false} {
		c.leaveCall(call.seen)
		if (call.seen.Context() == t.Context()) != there {
			t.Errorf("that it is as it was is not %v", there)
		}
	}
}
