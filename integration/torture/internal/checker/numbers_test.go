package checker

import (
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/torture/internal/history"
)

// called is a call of latch 0, or its setting.
func called(mode string, got int, from, to int64, outcome string) *history.Acquisition {
	return &history.Acquisition{
		Process: history.Process{Side: history.Go}, Op: from, Mode: mode, Called: from, Returned: to, Outcome: outcome, Got: got,
	}
}

func TestLatchesAreJudged(t *testing.T) {
	const ok = history.OK
	set, first := called(history.Set, 2, 1, 2, ok), called(history.CountDown, 0, 5, 9, ok)
	second := func(to int64, outcome string) *history.Acquisition {
		return called(history.CountDown, 0, 20, to, outcome)
	}
	await := func(from, to int64, outcome string) *history.Acquisition {
		return called(history.Await, 0, from, to, outcome)
	}
	type list = []*history.Acquisition
	for name, c := range map[string]struct {
		calls list
		voids []history.Void
		want  string
	}{
		"opens":                             {calls: list{set, first, second(25, ok), await(3, 26, ok)}},
		"through while the last runs":       {calls: list{set, first, second(25, ok), await(3, 22, ok)}},
		"through at 1":                      {calls: list{set, first, await(3, 15, ok), second(25, ok)}, want: "came through latch 0 at 15, after 1 of 2"},
		"through by what may have run":      {calls: list{set, first, second(25, history.Uncertain), await(3, 40, ok)}},
		"through by what was not sent":      {calls: list{set, first, second(25, "context canceled"), await(3, 40, ok)}, want: "after 1 of 2"},
		"refused though it is open":         {calls: list{set, first, second(25, ok), await(30, 40, history.Locked)}, want: "is no run of one"},
		"counted once":                      {calls: list{set, first, called(history.Counting, 1, 10, 11, ok)}},
		"counted twice":                     {calls: list{set, first, called(history.Counting, 0, 10, 11, ok)}, want: "saw a count of 0"},
		"counted not at all":                {calls: list{set, first, called(history.Counting, 2, 10, 11, ok)}, want: "saw a count of 2"},
		"in time":                           {calls: list{set, first, second(25, ok), await(3, 25+sec/2, ok)}},
		"late":                              {calls: list{set, first, second(25, ok), await(3, 25+2*sec, ok)}, want: "waited for latch 0"},
		"late, and a fault behind it":       {calls: list{set, first, second(25, ok), await(3, 25+2*sec, ok)}, voids: []history.Void{{From: 26 + 2*sec, To: 27 + 2*sec, Lock: history.Every}}, want: "waited for latch 0"},
		"never":                             {calls: list{set, first, second(25, ok), await(3, 25+8*sec, "context deadline exceeded")}, want: "waited for latch 0"},
		"a fault takes it":                  {calls: list{set, first, await(3, 18, ok)}, voids: []history.Void{{From: 14, To: 16, Lock: history.Every}}},
		"a failover undoes a count-down":    {calls: list{set, first, second(25, ok), await(30, 40, history.Locked)}, voids: []history.Void{failover(35, 45)}},
		"one that was over undid nothing":   {calls: list{set, first, second(25, ok), await(30, 40, history.Locked)}, voids: []history.Void{failover(0, 1)}, want: "is no run of one"},
		"nor did one behind the last call":  {calls: list{set, first, second(25, ok), await(30, 40, history.Locked)}, voids: []history.Void{failover(40, 45)}, want: "is no run of one"},
		"a fault takes it behind who waits": {calls: list{set, first, await(3, 12, ok)}, voids: []history.Void{{From: 14, To: 16, Lock: history.Every}}, want: "is no run of one"},
	} {
		ch := New(Model{Count: 2}, bounds, func(Window) {})
		ch.Judge(history.Chapter{Acquisitions: c.calls, Voids: c.voids, Horizon: 100 * sec}, nil)
		is(t, name, ch.End(), c.want)
	}
}

// failover spares nobody.
func failover(from, to int64) history.Void {
	return history.Void{From: from, To: to, Lock: history.Every, Why: "failover", Spares: func(string, int64) bool { return false }}
}

// Count-downs of which nobody knows whether they ran are many where a server was away. That they could run in any order must not
// make the search for what is no run of a latch as long as the number of their orders.
func TestLatchWithManyUnknownCountDownsIsDecided(t *testing.T) {
	calls := []*history.Acquisition{called(history.Set, 2, 1, 2, history.OK)}
	for i := range int64(40) {
		calls = append(calls, called(history.CountDown, 0, 3+i, 50, history.Uncertain))
	}
	calls = append(calls, called(history.CountDown, 0, 60, 65, history.OK), called(history.CountDown, 0, 60, 66, history.OK),
		called(history.Await, 0, 70, 80, history.Locked))
	began := time.Now()
	ch := New(Model{Count: 2}, bounds, func(Window) {})
	ch.Judge(history.Chapter{Acquisitions: calls, Horizon: 100 * sec}, nil)
	is(t, "many unknown", ch.End(), "is no run of one")
	if took := time.Since(began); took > patience/4 {
		t.Errorf("that took %v", took)
	}
}

func TestPermitsOfNobodyAreCounted(t *testing.T) {
	lasts := func(a *history.Acquisition) *history.Acquisition {
		return taking(1, change(a, func(a *history.Acquisition) { a.Until = forever }))
	}
	dead := func(a *history.Acquisition) *history.Acquisition {
		return lasts(change(a, func(a *history.Acquisition) { a.Unlock, a.Unlocked, a.Outcome, a.Died = 0, 0, "", 30 }))
	}
	set := called(history.Set, 2, 1, 2, history.OK)
	lost := taking(1, &history.Acquisition{Process: history.Process{Side: history.Java}, Op: 5, Called: 5, Returned: 9, Refusal: "TimeoutException"})
	left := taking(1, &history.Acquisition{Process: history.Process{Side: history.Go}, Op: 5, Called: 5, Returned: 9, Refusal: history.Uncertain})
	type list = []*history.Acquisition
	for name, c := range map[string]struct {
		calls list
		voids []history.Void
		free  int
		died  bool
		want  string
	}{
		"all come back":                       {calls: list{set, lasts(stay("a", 3, 4, 9))}, free: 2},
		"one is lost":                         {calls: list{set, lasts(stay("a", 3, 4, 9))}, free: 1, want: "some are lost"},
		"one comes back twice":                {calls: list{set, lasts(stay("a", 3, 4, 9))}, free: 3, want: "1 too many"},
		"the dead keep theirs":                {calls: list{set, dead(stay("a", 3, 4, 9)), lasts(stay("b", 50, 55, 60))}, free: 1},
		"the dead keep theirs from all":       {calls: list{set, dead(stay("a", 3, 4, 9)), lasts(stay("b", 50, 55, 90)), lasts(stay("c", 50, 56, 80))}, free: 1, want: "of more than there are permits"},
		"those of the dead come back":         {calls: list{set, dead(stay("a", 3, 4, 9))}, free: 2, want: "1 too many"},
		"Java may have lost one":              {calls: list{set, lost}, free: 1},
		"or not":                              {calls: list{set, lost}, free: 2},
		"but not two":                         {calls: list{set, lost}, free: 0, want: "some are lost"},
		"Go takes its own back":               {calls: list{set, left}, free: 1, want: "some are lost"},
		"unless it is killed meanwhile":       {calls: list{set, left}, free: 1, died: true},
		"a fault takes all":                   {calls: list{set, lasts(stay("a", 3, 4, 9))}, voids: []history.Void{{From: 20, To: 21, Lock: history.Every}}, free: 0},
		"a failover after they were set":      {calls: list{set, lasts(stay("a", 3, 4, 9))}, voids: []history.Void{failover(20, 21)}, free: 1},
		"a failover while they were set":      {calls: list{called(history.Set, 2, 10, 11, history.OK)}, voids: []history.Void{failover(5, 21)}, free: 1},
		"a failover before they were set":     {calls: list{called(history.Set, 2, 10, 11, history.OK)}, voids: []history.Void{failover(5, 9)}, free: 1, want: "some are lost"},
		"a fault takes all, and they are set": {calls: list{set, called(history.Set, 2, 30, 31, history.OK)}, voids: []history.Void{{From: 20, To: 21, Lock: history.Every}}, free: 1, want: "some are lost"},
	} {
		ch := New(Model{Permits: 2, Lasting: true}, bounds, func(Window) {})
		ended := history.Chapter{Acquisitions: c.calls, Voids: c.voids, Horizon: 100 * sec, Ended: map[int]int{0: c.free}}
		if c.died {
			ended.Deaths = map[history.Process]int64{left.Process: 12}
		}
		ch.Judge(ended, nil)
		is(t, name, ch.End(), c.want)
	}
}

// is wants one violation that says so, or none.
func is(t *testing.T, name string, v Verdict, want string) {
	t.Helper()
	all := strings.Join(v.Violations, "\n")
	if (all == "") != (want == "") || !strings.Contains(all, want) {
		t.Errorf("%s: %q, want %q", name, all, want)
	}
}
