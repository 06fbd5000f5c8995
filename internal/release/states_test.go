package release

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
)

var (
	errNet = errors.New("the network is away")
	errOdd = errors.New("odd")
)

const limit = time.Minute

var names = strings.Fields("Acted Vanish Leased Lower Discard Stray Late Wake SetTimer Tell Encode Send TakeBack Pause Ask End")

func (do Action) String() string {
	var some []string
	for i, name := range names {
		if do.Has(1 << i) {
			some = append(some, name)
		}
	}
	return strings.Join(some, " ")
}

func (s state) String() string {
	return [...]string{"waiting", "sent", "lost", "paused", "asking", "over"}[s]
}

func (v Verdict) String() string {
	return strings.Fields("- Released NotHeld Unreplicated ReplicasUnknown Refused InPart Uncertain Unanswered Queued UnsentSoFar Expired Unreleased Closed Strayed Unannounced ShownUnkilled ShownUnknown")[v]
}

func (q Question) String() string {
	return strings.Fields("- TTL Count Held Shown Announce Replicas")[q]
}

func (f Form) String() string { return [...]string{"latched", "once", "alone", "other"}[f] }

// start makes a release whose turn has not come.
func start(why Why, rules *kind.Traits) *Release {
	return &Release{Why: why, Rules: rules, Limit: limit, Unheld: 2 * limit, Retry: limit}
}

// form makes one that was sent for the first time.
func form(f Form, why Why) *Release {
	m := start(why, kind.Reentrant.Traits())
	m.Begin(Facts{Shown: f == Latched})
	return m
}

// places are the states to be in, and how to come there.
func places() map[string]func() *Release {
	lostBy := func(m *Release) *Release { m.Lost(errNet); return m }
	refusedBy := func(m *Release) *Release { m.Refused(errNet, false, Facts{}); return m }
	toldBy := func(m *Release) *Release {
		m.Tick(false, Facts{Now: limit + 1})
		return m
	}
	all := map[string]func() *Release{
		"waiting":          func() *Release { return start(Unlock, kind.Reentrant.Traits()) },
		"waiting UnlockAs": func() *Release { return start(UnlockAs, kind.Reentrant.Traits()) },
		"waiting Repeat":   func() *Release { return start(Repeat, kind.Reentrant.Traits()) },
		"sent alone":       func() *Release { m := form(Once, Unlock); m.Refused(errNet, true, Facts{}); return m },
		"paused split":     func() *Release { m := form(Latched, Unlock); m.Refused(errNet, true, Facts{}); return m },
		"sent again": func() *Release {
			m := form(Latched, Unlock)
			m.Answered(Answer{Did: codec.Final, Unreplicated: true}, Facts{Reached: 1})
			return m
		},
		"sent GiveBack": func() *Release { return form(Once, GiveBack) },
		"sent Undo": func() *Release {
			m := start(Undo, kind.Reentrant.Traits())
			m.Limit = clock.Never
			m.Begin(Facts{})
			return m
		},
		"sent Repeat":  func() *Release { return form(Once, Repeat) },
		"asking TTL":   func() *Release { m := start(UnlockAs, kind.Reentrant.Traits()); m.Begin(Facts{Shown: true}); return m },
		"asking Count": func() *Release { m := start(Repeat, kind.Reentrant.Traits()); m.Begin(Facts{Known: 1}); return m },
		"asking Held":  func() *Release { m := form(Once, Unlock); m.Fail(Partly, errOdd, Facts{}); return m },
		"asking Shown": func() *Release { m := lostBy(form(Once, Unlock)); m.Resume(Facts{Shown: true, Reached: 1}); return m },
		"asking Announce": func() *Release {
			m := lostBy(form(Latched, Unlock))
			m.Resume(Facts{})
			m.Answered(Answer{}, Facts{})
			return m
		},
		"asking Replicas": func() *Release {
			m := form(Once, Unlock)
			m.Answered(Answer{Did: codec.Final, Unreplicated: true}, Facts{})
			return m
		},
		"over":               func() *Release { m := form(Once, Unlock); m.Answered(Answer{Did: codec.Final}, Facts{}); return m },
		"waiting, told":      func() *Release { return toldBy(start(Unlock, kind.Reentrant.Traits())) },
		"waiting As, told":   func() *Release { return toldBy(start(UnlockAs, kind.Reentrant.Traits())) },
		"asking TTL, told":   func() *Release { m := start(UnlockAs, kind.Reentrant.Traits()); m.Begin(Facts{}); return toldBy(m) },
		"paused split, told": func() *Release { m := form(Latched, Unlock); m.Refused(errNet, true, Facts{}); return toldBy(m) },
		"sent again, told": func() *Release {
			m := form(Latched, Unlock)
			m.Answered(Answer{Did: codec.Final, Unreplicated: true}, Facts{Reached: 1})
			m.Tick(false, Facts{Now: limit + 1, Reached: 1})
			return m
		},
		"asking Replicas, told": func() *Release {
			m := form(Once, Unlock)
			m.Answered(Answer{Did: codec.Final, Unreplicated: true}, Facts{})
			m.Tick(false, Facts{Now: limit + 1, Reached: 1})
			return m
		},
	}
	for _, f := range []Form{Latched, Once} {
		all["sent "+f.String()] = func() *Release { return form(f, Unlock) }
		all["lost "+f.String()] = func() *Release { return lostBy(form(f, Unlock)) }
		all["paused "+f.String()] = func() *Release { return refusedBy(form(f, Unlock)) }
		all["sent "+f.String()+", told"] = func() *Release { return toldBy(form(f, Unlock)) }
		all["lost "+f.String()+", told"] = func() *Release { return toldBy(lostBy(form(f, Unlock))) }
		all["paused "+f.String()+", told"] = func() *Release { return toldBy(refusedBy(form(f, Unlock))) }
		all["sent after a loss "+f.String()] = func() *Release { m := lostBy(form(f, Unlock)); m.Resume(Facts{Reached: 1}); return m }
	}
	return all
}

// happenings are the events, in the order of the table.
var happenings = []struct {
	name  string
	event func(*Release) Action
}{
	{"its turn", func(m *Release) Action { return m.Begin(Facts{}) }},
	{"its turn, holds are left", func(m *Release) Action { return m.Begin(Facts{Shown: true, Left: true}) }},
	{"its turn, holds are known", func(m *Release) Action { return m.Begin(Facts{Known: 1}) }},
	{"its turn, barred", func(m *Release) Action { return m.Begin(Facts{Barred: true}) }},
	{"released", func(m *Release) Action { return m.Answered(Answer{Did: codec.Final}, reached) }},
	{"released, all gone", func(m *Release) Action {
		return m.Answered(Answer{Did: codec.Final}, Facts{Left: true, Reached: 1, Answered: true})
	}},
	{"released, may arrive", func(m *Release) Action {
		return m.Answered(Answer{Did: codec.Final}, Facts{MayArrive: true, Reached: 1, Answered: true})
	}},
	{"released, latch kept", func(m *Release) Action { return m.Answered(Answer{Did: codec.Final, Kept: true}, reached) }},
	{"released, on no replica", func(m *Release) Action { return m.Answered(Answer{Did: codec.Final, Unreplicated: true}, reached) }},
	{"released, replicas unknown", func(m *Release) Action { return m.Answered(Answer{Did: codec.Final, ReplicasUnknown: true}, reached) }},
	{"partly released", func(m *Release) Action {
		return m.Answered(Answer{Did: codec.Partial}, Facts{Left: true, Reached: 1, Answered: true})
	}},
	{"not held", func(m *Release) Action { return m.Answered(Answer{}, reached) }},
	{"not held, replicas asked", func(m *Release) Action {
		return m.Answered(Answer{}, Facts{Replicas: true, Reached: 1, Answered: true})
	}},
	{"not held, may arrive", func(m *Release) Action {
		return m.Answered(Answer{}, Facts{MayArrive: true, Reached: 1, Answered: true})
	}},
	{"an odd answer", func(m *Release) Action { return m.Answered(Answer{Err: errOdd}, reached) }},
	{"lost", func(m *Release) Action { return m.Lost(errNet) }},
	{"refused for now", func(m *Release) Action { return m.Refused(errNet, false, Facts{}) }},
	{"in two places", func(m *Release) Action { return m.Refused(errNet, true, Facts{}) }},
	{"in two places, shown", func(m *Release) Action { return m.Refused(errNet, true, Facts{Shown: true}) }},
	{"go on", func(m *Release) Action { return m.Resume(Facts{}) }},
	{"go on, shown", func(m *Release) Action { return m.Resume(Facts{Shown: true}) }},
	{"go on, it may have run", func(m *Release) Action { return m.Resume(Facts{Reached: 1}) }},
	{"go on, may have run, shown", func(m *Release) Action { return m.Resume(Facts{Reached: 1, Shown: true}) }},
	{"go on, may arrive, shown", func(m *Release) Action { return m.Resume(Facts{Reached: 1, Shown: true, MayArrive: true}) }},
	{"go on, holds are left", func(m *Release) Action { return m.Resume(Facts{Shown: true, Left: true}) }},
	{"refused", func(m *Release) Action { return m.Fail(Unrun, errOdd, Facts{}) }},
	{"refused, it may have run", func(m *Release) Action { return m.Fail(Unrun, errOdd, Facts{Reached: 1}) }},
	{"refused too long", func(m *Release) Action { return m.Fail(Passing, errNet, Facts{}) }},
	{"refused half way", func(m *Release) Action { return m.Fail(Partly, errOdd, Facts{Reached: 1}) }},
	{"refused half way, shown", func(m *Release) Action { return m.Fail(Partly, errOdd, Facts{Reached: 1, Shown: true}) }},
	{"lost for good", func(m *Release) Action { return m.Fail(Unknown, errNet, Facts{Reached: 1, MayArrive: true}) }},
	{"the client is closed", func(m *Release) Action { return m.Fail(Unrun, errNet, Facts{Closed: true}) }},
	{"not yet the limit", func(m *Release) Action { return m.Tick(true, Facts{Now: limit}) }},
	{"the limit, unwritten", func(m *Release) Action { return m.Tick(true, Facts{Now: limit + 1}) }},
	{"the limit", func(m *Release) Action { return m.Tick(false, Facts{Now: limit + 1}) }},
	{"the limit, it may have run", func(m *Release) Action { return m.Tick(false, Facts{Now: limit + 1, Reached: 1}) }},
	{"told none", func(m *Release) Action { return m.Heard(Reply{}, Facts{}) }},
	{"told some", func(m *Release) Action { return m.Heard(Reply{Yes: true, N: 2}, Facts{}) }},
	{"told some, barred", func(m *Release) Action { return m.Heard(Reply{Yes: true, N: 2}, Facts{Barred: true}) }},
	{"told none, replicas asked", func(m *Release) Action { return m.Heard(Reply{}, Facts{Replicas: true, Left: true}) }},
	{"told nothing", func(m *Release) Action { return m.Heard(Reply{Err: errNet}, Facts{}) }},
	{"told nothing, closed", func(m *Release) Action { return m.Heard(Reply{Err: errNet}, Facts{Closed: true}) }},
}

var reached = Facts{Reached: 1, Answered: true}

// TestEveryEventInEveryState compares what each event does in each state with the
// table. What is not in the table does nothing. -run with UPDATE=1 in the
// environment writes it anew, to be read as a diff.
func TestEveryEventInEveryState(t *testing.T) {
	const file = "testdata/states.txt"
	all := places()
	var from []string
	for place := range all {
		from = append(from, place)
	}
	slices.Sort(from)
	var table strings.Builder
	for _, place := range from {
		fmt.Fprintf(&table, "%s\n", place)
		for _, h := range happenings {
			m := all[place]()
			before := *m
			do := h.event(m)
			if do == 0 {
				if m.state != before.state || m.Verdict != before.Verdict {
					t.Errorf("%s, %s: it asks for nothing and changes", place, h.name)
				}
				continue
			}
			check(t, place+", "+h.name, &before, m, do)
			what := fmt.Sprint(m.state)
			switch m.state {
			case asking:
				what += " " + m.Question.String()
			case sent:
				what += " " + m.Form.String()
			}
			if do.Has(Tell) {
				what += ", told " + m.Verdict.String()
			}
			fmt.Fprintf(&table, "  %-28s %-34s %s\n", h.name, what, do)
		}
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(table.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, line := strings.Split(table.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(line)) {
		if i >= len(got) || i >= len(line) || got[i] != line[i] {
			t.Fatalf("from line %d on: %q", i+1, got[min(i, len(got)-1)])
		}
	}
}

// last are the actions of which there is one at most.
const last = Send | TakeBack | Pause | Ask | End

// check demands what holds of every step.
func check(t *testing.T, what string, before, after *Release, do Action) {
	t.Helper()
	one := do & last
	switch {
	case one&(one-1) != 0:
		t.Errorf("%s: it goes two ways: %v", what, do)
	case do.Has(Tell) != (before.Verdict == Open && after.Verdict != Open):
		t.Errorf("%s: told %v, then %v, by %v", what, before.Verdict, after.Verdict, do)
	case !do.Has(Tell) && after.Verdict != before.Verdict:
		t.Errorf("%s: what was told changes from %v to %v", what, before.Verdict, after.Verdict)
	case do.Has(End) != (before.state != over && after.state == over):
		t.Errorf("%s: from %v to %v by %v", what, before.state, after.state, do)
	case do.Has(End) && after.Verdict == Open:
		t.Errorf("%s: it ends and tells nobody", what)
	case do.Has(Send) != (after.state == sent && one != TakeBack && !do.Has(Tell)):
		t.Errorf("%s: it is %v after %v", what, after.state, do)
	case do.Has(Encode) && !do.Has(Send):
		t.Errorf("%s: it encodes what is not sent: %v", what, do)
	case do.Has(Ask) != (after.state == asking && !do.Has(Tell)) || do.Has(Pause) != (after.state == paused && !do.Has(Tell)):
		t.Errorf("%s: it is %v after %v", what, after.state, do)
	}
}
