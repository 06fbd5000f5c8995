package checker

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/torture/internal/history"
)

func TestNobodyInsideIsCountedWhileSomebodyWaits(t *testing.T) {
	killed := func(lease int64) *history.Acquisition {
		return change(stay("k", 100, 110, 120), func(a *history.Acquisition) {
			a.Unlock, a.Unlocked, a.Until, a.Died, a.Lease = 0, 0, 115, 112, lease
		})
	}
	refused := &history.Acquisition{Mode: "TryLock", Called: 200, Returned: 900}
	gaveUp := &history.Acquisition{Mode: "TryLockFor", Called: 50, Returned: 60}
	for name, c := range map[string]struct {
		chapters [][]*history.Acquisition
		want     Availability
	}{
		"one, uncontended":            {[][]*history.Acquisition{{stay("a", 1, 3, 9)}}, Availability{8, 2, 2}},
		"handed on":                   {[][]*history.Acquisition{{stay("a", 1, 2, 10), stay("b", 5, 14, 20)}}, Availability{19, 5, 4}},
		"nobody wants it for a while": {[][]*history.Acquisition{{stay("a", 1, 2, 10), stay("b", 40, 42, 50)}}, Availability{19, 3, 2}},
		"a wait in vain":              {[][]*history.Acquisition{{stay("a", 1, 2, 10), gaveUp}}, Availability{19, 11, 10}},
		"who tries does not wait":     {[][]*history.Acquisition{{stay("a", 1, 2, 10), refused}}, Availability{9, 1, 1}},
		"killed inside a lease":       {[][]*history.Acquisition{{killed(30), stay("b", 105, 150, 160)}}, Availability{60, 8, 8}},
		"killed under the watchdog":   {[][]*history.Acquisition{{killed(0), stay("b", 105, 150, 160)}}, Availability{60, 28, 28}},
		"over a chapter's end":        {[][]*history.Acquisition{{stay("a", 1, 2, 10), stay("b", 5, 30, 40)}, {stay("c", 35, 41, 50)}}, Availability{49, 22, 20}},
	} {
		v := availability{lease: 10, locks: map[int]*presence{}}
		for _, part := range c.chapters {
			for _, a := range part {
				v.add(a)
			}
			v.judge(20)
		}
		v.judge(1000)
		if got := v.all()[0]; got != c.want {
			t.Errorf("%s: %d, want %d", name, []time.Duration{got.Wanted, got.Nobody, got.Longest}, c.want)
		}
	}
}
