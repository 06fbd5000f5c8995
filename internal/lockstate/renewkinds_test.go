package lockstate

import (
	"fmt"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/watchdog"
)

// The watchdog may give out leases of several kinds for one script: of one slot, of
// one server. Kinds that are not renewed by the same script go in one each.
func TestLeasesOfTwoSortsAreNotRenewedByOneScript(t *testing.T) {
	t.Parallel()
	o := config()
	o.Watchdog = time.Minute // nothing is renewed but here
	c := openWith(t, redistest.Start(t), o)
	var leases []*watchdog.Lease
	for i := range 3 {
		plain := c.NewLock(kind.Reentrant, fmt.Sprint("plain", i), fmt.Sprint("plain", i))
		leases = append(leases, acquire(t, &plain).st.lease)
		if i == 1 {
			read, _ := sharedLocks(c)
			leases = append(leases, acquire(t, read).st.lease)
		}
	}
	answers := make(chan string, len(leases))
	answer := func(i int, a watchdog.Answer) {
		answers <- fmt.Sprint(i, " ", a.Result == watchdog.Renewed, " ", a.Err)
	}
	scripts := map[string]int{}
	for r := c.scripts(&batchPart{leases: leases}, answer); r != nil; {
		for _, sub := range r.subs {
			if group := sub.l.traits.RenewGroup; group != r.subs[0].l.traits.RenewGroup {
				t.Errorf("%s goes with %s", group, r.subs[0].l.traits.RenewGroup)
			}
		}
		scripts[r.subs[0].l.traits.RenewGroup] += len(r.subs)
		next := r.next
		r.send()
		r = next
	}
	c.exec.WakeWriter()
	if got := fmt.Sprint(scripts); got != "map[owned hash:3 read:1]" {
		t.Errorf("the scripts have %s", got)
	}
	all := map[string]bool{}
	for range leases {
		select {
		case a := <-answers:
			all[a] = true
		case <-time.After(soon):
			t.Fatalf("of %d leases these were answered for: %v", len(leases), all)
		}
	}
	for i := range leases {
		if !all[fmt.Sprint(i, " true <nil>")] {
			t.Errorf("lease %d was not renewed: %v", i, all)
		}
	}
}
