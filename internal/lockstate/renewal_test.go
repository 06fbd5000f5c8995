package lockstate

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/watchdog"
)

// The watchdog may give out leases of several kinds for one node. Kinds that are not
// renewed by the same script go in one each, and so do slots where one script can't
// have two.
func TestLeasesOfTwoSortsAreNotRenewedByOneScript(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	renewBySort(t, s, "one", true, "[owned hash 3 read 1]")
	renewBySort(t, s, "two", false, "[owned hash 1 owned hash 2 read 1]")
}

func renewBySort(t *testing.T, s *redistest.Server, key string, spans bool, want string) {
	o := config()
	o.Watchdog = time.Minute // nothing is renewed but here
	c := openWith(t, s, o)
	c.SpansSlots = spans
	var leases []*watchdog.Lease
	for i := range 3 {
		name := fmt.Sprintf("%s{%d}%d", key, i/2, i)
		plain := c.NewLock(kind.Reentrant, name, name)
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
	part := c.cut(leases, false, answer)[0]
	part.open.Add(1) // so that it does not end
	var scripts []string
	for _, r := range part.scripts() {
		for _, sub := range r.subs {
			if group := sub.l.Traits.RenewGroup; group != r.subs[0].l.Traits.RenewGroup {
				t.Errorf("%s goes with %s", group, r.subs[0].l.Traits.RenewGroup)
			}
		}
		scripts = append(scripts, fmt.Sprint(r.subs[0].l.Traits.RenewGroup, " ", len(r.subs)))
		r.send()
	}
	c.Exec.WakeWriter()
	slices.Sort(scripts)
	if got := fmt.Sprint(scripts); got != want {
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
