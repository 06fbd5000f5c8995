package locks

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// The watchdog may renew leases of several kinds on one node. Kinds that different scripts renew get a script each,
// and so do slots if a script can't span slots.
func TestLeasesOfTwoSortsAreNotRenewedByOneScript(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	renewBySort(t, s, "one", true, "[1 3]")
	renewBySort(t, s, "two", false, "[1 1 2]")
}

// renewBySort renews three plain holds in two slots and a read hold, and checks how many keys each script has.
func renewBySort(t *testing.T, s *redistest.Server, key string, spans bool, want string) {
	o := config()
	o.Watchdog = time.Minute // so that nothing else is renewed
	c := openWith(t, s, o)
	c.spansSlots = spans
	for i := range 3 {
		name := fmt.Sprintf("%s{%d}%d", key, i/2, i)
		plain := c.NewLock(kind.Reentrant, name, name)
		mustAcquire(t, &plain)
		if i == 1 {
			read, _ := sharedLocks(c)
			mustAcquire(t, read)
		}
	}
	tap := monitor.Tap(t, s.URL())
	tap.Mark()
	c.renewer.RenewNow()
	renewed := func() (n int64) {
		for label := range kind.Labels {
			n += c.counts[label].renewals.Load()
		}
		return n
	}
	redistest.Becomes(t, "four leases are renewed", func() bool { return renewed() >= 4 })
	var keys []int
	for _, call := range monitor.Calls(tap.Mark()) {
		if len(call.Inside) > 0 && call.Argv[0] == "60000" { // the server knew the script, and it is no look
			keys = append(keys, len(call.Keys))
		}
	}
	slices.Sort(keys)
	if got := fmt.Sprint(keys); got != want {
		t.Errorf("the scripts have %s keys, want %s", got, want)
	}
}
