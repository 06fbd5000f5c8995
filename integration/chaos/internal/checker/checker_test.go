package checker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
)

const sec = int64(time.Second)

var bounds = Bounds{Calm: time.Second, Troubled: 5 * time.Second, Settle: 2 * time.Second, Voided: 0.05}

// stay is a clean acquisition of lock 0, which waits from called to from and is inside until to.
func stay(owner string, called, from, to int64) *history.Acquisition {
	return &history.Acquisition{
		Process: history.Process{Side: history.Go}, Op: called, Owner: owner, Mode: "Lock", Called: called, Returned: from,
		Held: true, Until: to + sec, Unlock: to, Unlocked: to + 1, Outcome: history.OK,
	}
}

func change(a *history.Acquisition, how func(*history.Acquisition)) *history.Acquisition {
	how(a)
	return a
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	crowd := func(n int) (all []*history.Acquisition) {
		for i := range int64(n) {
			all = append(all, stay("x", 1000*sec+10*i, 1000*sec+10*i+1, 1000*sec+10*i+2))
		}
		return all
	}
	for name, c := range map[string]struct {
		acquisitions []*history.Acquisition
		voids        []history.Void
		troubles     []Trouble
		want         string // how the violation begins; empty for none
		voided       int
	}{
		"one after the other": {acquisitions: []*history.Acquisition{stay("a", 1, 2, 5), stay("b", 3, 6, 9)}},
		"two inside":          {acquisitions: []*history.Acquisition{stay("a", 1, 2, 7), stay("b", 3, 6, 9)}, want: "exclusion: lock 0 was two"},
		"killed, and another before its trust ended": {
			acquisitions: []*history.Acquisition{
				change(stay("a", 1, 2, 7), func(a *history.Acquisition) {
					a.Unlock, a.Unlocked, a.Outcome, a.Died, a.Until = 0, 0, "", 4, 50
				}),
				stay("b", 3, 49, 90),
			},
			want: "exclusion",
		},
		"told of its loss": {acquisitions: []*history.Acquisition{
			change(stay("a", 1, 2, 9), func(a *history.Acquisition) { a.Lost = 5 }), stay("b", 3, 6, 9),
		}},
		"two inside after a flush": {
			acquisitions: append(crowd(100), stay("a", 1, 2, 7), stay("b", 3, 6, 9)),
			voids:        []history.Void{{From: 4, To: 5, Lock: history.Every, Why: "FLUSHALL"}}, voided: 2,
		},
		"two inside before a flush": {
			acquisitions: append(crowd(100), stay("a", 1, 2, 9), stay("b", 1, 3, 9)),
			voids:        []history.Void{{From: 5, To: 6, Lock: history.Every, Why: "FLUSHALL"}}, want: "exclusion", voided: 2,
		},
		"two inside and another lock forced": {
			acquisitions: append(crowd(100), stay("a", 1, 2, 7), stay("b", 3, 6, 9)),
			voids:        []history.Void{{From: 4, To: 5, Lock: 1, Why: "forced"}}, want: "exclusion",
		},
		"an owner comes back while its void hold is not released": {
			acquisitions: append(crowd(100), stay("a", 1, 2, 50), stay("a", 10, 12, 30), stay("b", 10, 20, 25)),
			voids:        []history.Void{{From: 4, To: 5, Lock: history.Every, Why: "FLUSHALL"}}, voided: 2,
		},
		"an owner comes back when its void hold is released": {
			acquisitions: append(crowd(100), stay("a", 1, 2, 8), stay("a", 10, 12, 30), stay("b", 10, 20, 25)),
			voids:        []history.Void{{From: 4, To: 5, Lock: history.Every, Why: "FLUSHALL"}}, voided: 1, want: "exclusion",
		},
		"too much void": {
			acquisitions: append(crowd(10), stay("a", 1, 2, 7)),
			voids:        []history.Void{{From: 4, To: 5, Lock: history.Every, Why: "FLUSHALL"}}, want: "void: faults set 1 of 11", voided: 1,
		},
		"told that it does not hold": {
			acquisitions: []*history.Acquisition{change(stay("a", 1, 2, 9), func(a *history.Acquisition) { a.Outcome = history.NotHeld })},
			want:         "unlock: ",
		},
		"late": {
			acquisitions: []*history.Acquisition{stay("a", 1, 2, 9), stay("b", 3, 9+2*sec, 9+3*sec)},
			want:         "lock 0 was free at 10",
		},
		"late where a lease ran out": {
			acquisitions: []*history.Acquisition{
				change(stay("a", 1, 2, sec*2), func(a *history.Acquisition) {
					a.Lease, a.Lost, a.Outcome = sec/2, sec/2, history.LostLease
				}),
				stay("b", 3, 3*sec, 4*sec),
			},
			want: "lock 0 was free at 500000002",
		},
		"late near a fault": {
			acquisitions: []*history.Acquisition{stay("a", 1, 2, 9), stay("b", 3, 9+2*sec, 9+3*sec)},
			troubles:     []Trouble{{From: 1, To: 2}},
		},
		"too late even near a fault": {
			acquisitions: []*history.Acquisition{stay("a", 1, 2, 9), stay("b", 3, 9+6*sec, 9+7*sec)},
			troubles:     []Trouble{{From: 1, To: 2}}, want: "lock 0 was free at 10",
		},
		"late in a fault that lasts": {
			acquisitions: []*history.Acquisition{stay("a", 1, 2, 9), stay("b", 3, 9+6*sec, 9+7*sec)},
			troubles:     []Trouble{{From: 1, To: 3 * sec}},
		},
		"late by what the machine was": {
			acquisitions: []*history.Acquisition{stay("a", 1, 2, 9), stay("b", 3, 9+2*sec, 9+3*sec)},
			troubles:     []Trouble{{From: 10, To: sec, Late: 2 * sec}},
		},
		"late by more than that": {
			acquisitions: []*history.Acquisition{stay("a", 1, 2, 9), stay("b", 3, 9+2*sec, 9+3*sec)},
			troubles:     []Trouble{{From: 10, To: sec, Late: sec / 2}}, want: "lock 0 was free at 10",
		},
		"nobody waited": {acquisitions: []*history.Acquisition{stay("a", 1, 2, 9), stay("b", 9+2*sec, 10+2*sec, 9+3*sec)}},
		"gave up in time": {acquisitions: []*history.Acquisition{
			stay("a", 1, 2, 9),
			change(stay("b", 3, 9+sec/2, 0), func(a *history.Acquisition) {
				*a = history.Acquisition{Process: a.Process, Called: 3, Returned: 9 + sec/2}
			}),
		}},
		"gave up in vain": {
			acquisitions: []*history.Acquisition{
				stay("a", 1, 2, 9),
				{Process: history.Process{Side: history.Go}, Called: 3, Returned: 9 + 2*sec, Mode: "Lock"},
			},
			want: "lock 0 was free at 10",
		},
	} {
		for _, v := range verdicts(Model{}, bounds, history.Chapter{Acquisitions: c.acquisitions, Voids: c.voids}, c.troubles) {
			v.expect(t, name, c.want)
			if v.Voided != c.voided || v.Windows != held(c.acquisitions) {
				t.Errorf("%s, %v: %d of %d void, want %d of %d", name, v.horizons, v.Voided, v.Windows, c.voided, held(c.acquisitions))
			}
		}
	}
}

// cut is a verdict on a history that came in chapters.
type cut struct {
	Verdict
	horizons []int64
}

// verdicts judges a history that is cut into chapters in several ways. All verdicts must be the same.
func verdicts(m Model, b Bounds, all history.Chapter, troubles []Trouble) (cuts []cut) {
	for _, horizons := range [][]int64{nil, {4}, {5, 8, 20}, {500 * sec}} {
		check := New(m, b)
		acquisitions, queues := slices.Clone(all.Acquisitions), slices.Clone(all.Queues)
		for _, h := range append(slices.Clone(horizons), forever) {
			chapter := history.Chapter{Horizon: h, Voids: all.Voids, Sightings: all.Sightings}
			acquisitions = slices.DeleteFunc(acquisitions, func(a *history.Acquisition) bool {
				if a.Called < h {
					chapter.Acquisitions = append(chapter.Acquisitions, a)
				}
				return a.Called < h
			})
			queues = slices.DeleteFunc(queues, func(q history.Queue) bool {
				if q.Asked < h {
					chapter.Queues = append(chapter.Queues, q)
				}
				return q.Asked < h
			})
			check.Judge(chapter, troubles)
		}
		cuts = append(cuts, cut{check.End(), horizons})
	}
	return cuts
}

// expect checks that there is one violation, which begins with want, or none if want is empty.
func (v cut) expect(t *testing.T, name, want string) {
	t.Helper()
	switch {
	case want == "" && len(v.Violations) > 0:
		t.Errorf("%s, %v: %q", name, v.horizons, v.Violations)
	case want != "" && (len(v.Violations) != 1 || !strings.HasPrefix(v.Violations[0], want)):
		t.Errorf("%s, %v: %q, want one that begins with %q", name, v.horizons, v.Violations, want)
	}
}

func held(all []*history.Acquisition) (n int) {
	for _, a := range all {
		if a.Held {
			n++
		}
	}
	return n
}

func TestWakeUpsAreMeasured(t *testing.T) {
	check := New(Model{}, bounds)
	check.Judge(history.Chapter{Horizon: forever, Acquisitions: []*history.Acquisition{
		stay("a", 1, 2, 9), stay("b", 3, 30, 40), stay("c", 50, 51, 52),
	}}, nil)
	if v := check.End(); !slices.Equal(v.Calm[history.Go], []time.Duration{20}) || len(v.Troubled[history.Go]) > 0 {
		t.Errorf("calm %v, troubled %v", v.Calm, v.Troubled)
	}
}
