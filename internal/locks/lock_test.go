package locks

import (
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

// byChance is a name without a tag. By chance its other names have its slot; its receipts do not.
var byChance = "{" + strings.Repeat("x", 1733-len("{09341")) + "09341"

// apartName has a second name, its key with ":apart" appended.
type apartName struct{ kind.Kind }

func (apartName) Names(key string) kind.Names { return kind.Names{key, key + ":apart"} }

func TestEveryNameOfAKindMustBeInTheLocksSlot(t *testing.T) {
	c := new(Client)
	for _, tc := range []struct {
		kind     kind.Kind
		key, bad string // the name in another slot, or ""
	}{
		{apartName{kind.Reentrant}, "g", `"g:apart"`},
		{apartName{kind.Reentrant}, "{g}", ""},
		{kind.Reentrant, "g", ""},
		{kind.Reentrant, "a}b", `"redisson_lock__channel:{a}b}"`},
		{kind.Reentrant, "a{b", `"redisson_lock__channel:a{b"`},
		{kind.Permits(1), "{g}", ""},
		{kind.Permits(1), "a{b", `"redisson_sc:a{b"`},
		{kind.Permits(1), byChance, "the results of its changes"},
		{kind.Semaphore(1), "a{b", `"redisson_sc:a{b"`},
		{kind.Semaphore(1), "x{t}y", ""},
		{kind.CountDownLatch, "x{t}y", `"redisson_countdownlatch__channel__{x{t}y}"`},
		{kind.CountDownLatch, "xy", ""},
		{kind.Spin, "a{b", "the results of its changes"},
		{kind.Spin, "{a}b", ""},
		{kind.Fenced, "a}b", `"redisson_lock__channel:{a}b}"`},
		{kind.Fenced, "a{b", `"redisson_lock__channel:a{b"`},
		{kind.Fenced, "{a}b", ""},
		{kind.NonReentrant, "a}b", `"redisson_lock__channel:{a}b}"`},
		{kind.NonReentrant, "{a}b", ""},
		{kind.Fair(time.Minute), "a}b", `"redisson_lock__channel:{a}b}"`},
		{kind.Fair(time.Minute), "a{b", `"redisson_lock__channel:a{b"`},
		{kind.Fair(time.Minute), "{a}b", ""},
		{kind.ReadLock, "a}b", `"redisson_rwlock:{a}b}"`},
		{kind.ReadLock, "a{b", `"redisson_rwlock:a{b"`},
		{kind.ReadLock, "{a}b", ""},
		{kind.WriteLock, "a}b", `"redisson_rwlock:{a}b}"`},
		{kind.WriteLock, "{a}b", ""},
	} {
		c.spansSlots = true
		l := c.NewLock(tc.kind, tc.key, tc.key)
		if err := l.Scattered(); err != nil {
			t.Errorf("%s on one server: %v", tc.key, err)
		}
		c.spansSlots = false
		err := l.Scattered()
		const put = "; put the part that decides the slot in braces, such as {order:17}:a"
		if (err == nil) != (tc.bad == "") || err != nil && !(strings.Contains(err.Error(), tc.bad) && strings.HasSuffix(err.Error(), put)) {
			t.Errorf("%s in a cluster: %v, want %q", tc.key, err, tc.bad)
		}
	}
}
