package javapermits

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

// story is what one side does on a server of its own. After each step the state is looked at.
type story struct {
	*rig
	s    side
	ids  map[string][]string
	seen []state
}

func (y *story) take(as string, n int, lease time.Duration) {
	ids, err := y.s.take(y.Context(), n, lease)
	y.must(err)
	y.ids[as] = ids
}

// says notes what a call answered, beside the state.
func (y *story) says(what any) {
	y.seen[len(y.seen)-1].exact = append(y.seen[len(y.seen)-1].exact, fmt.Sprint(what))
}

// scene is one step. since is the first release that can do it.
var scenes = []struct {
	what, since string
	do          func(y *story)
	after       func(y *story) // adds to what is seen
}{
	{"set", "", func(y *story) { y.must(y.s.set(y.Context(), "trysetpermits", 3)) }, nil},
	{"set again", "", func(y *story) { y.must(y.s.set(y.Context(), "trysetpermits", 5)) }, nil},
	{"take", "", func(y *story) { y.take("a", 1, half) }, nil},
	{"take for longer", "", func(y *story) { y.take("b", 1, 2*half) }, nil},
	{"extend", "", func(y *story) { y.must(y.s.lease(y.Context(), y.ids["a"][0], 3*half)) }, nil},
	{"release one", "", func(y *story) { y.must(y.s.release(y.Context(), y.ids["a"]...)) }, nil},
	{"release it again", "", func(y *story) {
		if err := y.s.release(y.Context(), y.ids["a"]...); err == nil {
			y.Error("released twice")
		}
	}, nil},
	{"take all", "", func(y *story) { y.take("c", 1, half); y.take("d", 1, half) }, nil},
	{"too few", "", func(y *story) {
		if ids, err := y.s.try(y.Context(), 100*time.Millisecond); len(ids) > 0 || err != nil {
			y.Errorf("there is one: %v, %v", ids, err)
		}
	}, nil},
	{"counts", "", func(*story) {}, func(y *story) {
		n, err := y.s.counts(y.Context())
		y.must(err)
		y.says(n[0])
	}},
	{"fewer by one", "", func(y *story) { y.must(y.s.set(y.Context(), "addpermits", -1)) }, nil},
	{"more", "", func(y *story) { y.must(y.s.set(y.Context(), "addpermits", 3)) }, nil},
	{"a total below what is taken", "3.21", func(y *story) { y.must(y.s.set(y.Context(), "setpermits", 2)) }, nil},
	{"the same total", "3.22", func(y *story) { y.must(y.s.set(y.Context(), "setpermits", 2)) }, nil},
	{"release below nothing", "", func(y *story) { y.must(y.s.release(y.Context(), y.ids["b"]...)) }, nil},
	{"a total", "3.21", func(y *story) { y.must(y.s.set(y.Context(), "setpermits", 6)) }, nil},
	{"take several", "3.27", func(y *story) { y.take("e", 3, 2*half) }, nil},
	{"release several", "3.27", func(y *story) { y.must(y.s.release(y.Context(), y.ids["e"]...)) }, nil},
	{"an end of the semaphore is the permits' too", "3.16", func(y *story) {
		y.do("PEXPIRE", name, 60_000)
		y.take("f", 1, half)
	}, nil},
	{"the time of one is over", "", func(y *story) {
		y.take("g", 1, 50*time.Millisecond)
		time.Sleep(100 * time.Millisecond)
		y.take("h", 1, half)
	}, nil},
	{"to count takes it back", "", func(y *story) {
		y.take("i", 1, 50*time.Millisecond)
		time.Sleep(100 * time.Millisecond)
		_, err := y.s.counts(y.Context())
		y.must(err)
	}, nil},
	{"delete", "", func(y *story) { y.must(y.s.delete(y.Context())) }, nil},
}

// tell has one side do all that the release can.
func tell(t *testing.T, version string, r *rig, s side) (what []string, seen []state) {
	y := &story{rig: r, s: s, ids: map[string][]string{}}
	for _, scene := range scenes {
		if before(version, scene.since) {
			continue
		}
		scene.do(y)
		y.seen = append(y.seen, r.look())
		if scene.after != nil {
			scene.after(y)
		}
		what = append(what, scene.what)
	}
	return what, y.seen
}

// Keys, members, scores, TTLs and messages are the same after each step, whoever takes it.
func TestBothLeaveTheSameOnTheServer(t *testing.T) {
	eachRelease(t, func(t *testing.T, version string) {
		if before(version, "3.2") {
			t.Skip("its ids are hex digits, and its semaphore does not do what later ones do")
		}
		inGo, inJava := newRig(t), newRig(t)
		what, golang := tell(t, version, inGo, newGoSide(t, inGo.server.URL()))
		_, java := tell(t, version, inJava, newJavaSide(t, version, inJava.server.URL()))
		for i := range what {
			if !slices.Equal(golang[i].exact, java[i].exact) {
				t.Errorf("%s: Go leaves\n\t%q\nJava\n\t%q", what[i], golang[i].exact, java[i].exact)
			}
			if !slices.Equal(slices.Sorted(maps.Keys(golang[i].times)), slices.Sorted(maps.Keys(java[i].times))) {
				t.Errorf("%s: Go has the times %v, Java %v", what[i], golang[i].times, java[i].times)
			}
			for of, ms := range golang[i].times {
				// A slow machine takes seconds between two steps; the leases differ by half a minute.
				if apart := ms - java[i].times[of]; apart < -12_000 || apart > 12_000 || ms < 0 != (java[i].times[of] < 0) {
					t.Errorf("%s: Go's %s is %d, Java's %d", what[i], of, ms, java[i].times[of])
				}
			}
		}
	})
}
