package lockstate

import (
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/kind"
)

// byChance is a name without a tag whose other names are in its slot, and whose receipts are not.
var byChance = "{" + strings.Repeat("x", 1733-len("{09341")) + "09341"

// The second name of the kind apart is its key and ":apart".
func TestEveryNameOfAKindMustBeInTheLocksSlot(t *testing.T) {
	c, err := New(config())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, tc := range []struct {
		kind     kind.Kind
		key, bad string // what is elsewhere in a cluster, "" if nothing is
	}{
		{apartKind, "g", `"g:apart"`},
		{apartKind, "{g}", ""},
		{kind.Reentrant, "g", ""},
		{kind.Reentrant, "a}b", `"redisson_lock__channel:{a}b}"`},
		{kind.Reentrant, "a{b", `"redisson_lock__channel:a{b"`},
		{kind.Permits(1), "{g}", ""},
		{kind.Permits(1), "a{b", `"redisson_sc:a{b"`},
		{kind.Permits(1), byChance, "latches"},
		{kind.Semaphore(1), "a{b", `"redisson_sc:a{b"`},
		{kind.Semaphore(1), "x{t}y", ""},
		{kind.CountDownLatch, "x{t}y", `"redisson_countdownlatch__channel__{x{t}y}"`},
		{kind.CountDownLatch, "xy", ""},
		{kind.Spin, "a{b", "latches"},
		{kind.Spin, "{a}b", ""},
		{kind.Fenced, "a}b", `"redisson_lock__channel:{a}b}"`},
		{kind.Fenced, "a{b", `"redisson_lock__channel:a{b"`},
		{kind.Fenced, "{a}b", ""},
		{kind.NonReentrant, "a}b", `"redisson_lock__channel:{a}b}"`},
		{kind.NonReentrant, "{a}b", ""},
		{fairKind, "a}b", `"redisson_lock__channel:{a}b}"`},
		{fairKind, "a{b", `"redisson_lock__channel:a{b"`},
		{fairKind, "{a}b", ""},
		{kind.ReadLock, "a}b", `"redisson_rwlock:{a}b}"`},
		{kind.ReadLock, "a{b", `"redisson_rwlock:a{b"`},
		{kind.ReadLock, "{a}b", ""},
		{kind.WriteLock, "a}b", `"redisson_rwlock:{a}b}"`},
		{kind.WriteLock, "{a}b", ""},
	} {
		c.SpansSlots = true
		l := c.NewLock(tc.kind, tc.key, tc.key)
		if err := l.Scattered(); err != nil {
			t.Errorf("%s on one server: %v", tc.key, err)
		}
		c.SpansSlots = false
		err := l.Scattered()
		if (err == nil) != (tc.bad == "") || err != nil && !strings.Contains(err.Error(), tc.bad) {
			t.Errorf("%s in a cluster: %v, want %q", tc.key, err, tc.bad)
		}
	}
}
