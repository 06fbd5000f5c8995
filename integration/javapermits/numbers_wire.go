package javapermits

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

// numberScene is one step of a story about a number: a method, what it answers, and from which release on.
type numberScene struct {
	since  string
	method string
	args   []any
}

var semaphoreScenes = []numberScene{
	{"", "available", nil},
	{"", "tryacquire", []any{1}},
	{"", "trysetpermits", []any{3}},
	{"", "trysetpermits", []any{5}},
	{"", "tryacquire", []any{2}},
	{"", "tryacquire", []any{2}},
	{"", "tryacquirefor", []any{2, 50 * time.Millisecond}},
	{"", "release", []any{2}},
	{"", "acquire", []any{3}},
	{"", "available", nil},
	{"", "trysetpermits", []any{5}}, // none is free, and it is there
	{"", "release", []any{1}},
	{"3.16", "addpermits", []any{-3}},
	{"3.16", "available", nil},
	{"3.16", "release", []any{1}}, // below nothing
	{"3.16", "tryacquire", []any{1}},
	{"3.16", "addpermits", []any{4}},
	{"", "expire", []any{60_000}},
	{"", "release", []any{1}},
	{"3.16", "addpermits", []any{1}}, // which ends the end
	{"", "expire", []any{60_000}},
	{"3.16", "drain", nil},
	{"", "drain", nil},
	{"", "release", []any{2}},
	{"4.3", "releaseifexists", []any{1}},
	{"", "delete", nil},
	{"", "delete", nil},
	{"4.3", "releaseifexists", []any{1}},
	{"3.16", "drain", nil},
	{"", "release", []any{1}}, // makes one
	{"", "drain", nil},
}

var latchScenes = []numberScene{
	{"", "count", nil},
	{"", "awaitfor", []any{50 * time.Millisecond}},
	{"", "await", nil},
	{"", "countdown", nil}, // of an open one
	{"", "trysetcount", []any{2}},
	{"", "trysetcount", []any{5}},
	{"", "count", nil},
	{"", "awaitfor", []any{50 * time.Millisecond}},
	{"", "countdown", nil},
	{"", "countdown", nil},
	{"", "await", nil},
	{"", "countdown", nil}, // one too many
	{"", "trysetcount", []any{3}},
	{"", "delete", nil},
	{"", "delete", nil},
	{"", "count", nil},
}

// tellNumber has one side do all that the release can.
func tellNumber(p *rig, version string, n number, scenes []numberScene) (what []string, seen []state) {
	for _, scene := range scenes {
		if before(version, scene.since) {
			continue
		}
		text := ""
		if scene.method == "expire" {
			p.Do("PEXPIRE", name, scene.args[0])
		} else {
			var err error
			text, err = n.do(p.Context(), scene.method, scene.args...)
			p.Must(err)
		}
		s := p.look()
		s.exact = append(s.exact, "answered "+text)
		what, seen = append(what, fmt.Sprint(scene.method, scene.args)), append(seen, s)
	}
	return what, seen
}

// SemaphoreOnTheWire has Go and a release of Redisson do the same with a semaphore each, and tells how many steps that were.
func SemaphoreOnTheWire(t *testing.T, version string) int {
	return numberOnTheWire(t, version, semaphores, semaphoreScenes)
}

// LatchOnTheWire is SemaphoreOnTheWire of a count-down latch.
func LatchOnTheWire(t *testing.T, version string) int {
	return numberOnTheWire(t, version, latches, latchScenes)
}

func numberOnTheWire(t *testing.T, version string, of func(r *rig, url, version, name string) *numbers, scenes []numberScene) int {
	inGo, inJava := newRig(t), newRig(t)
	steps, golang := tellNumber(inGo, version, of(inGo, inGo.Server.URL(), version, name).golang, scenes)
	inJava = inJava.of(t) // the JVM took some time
	_, java := tellNumber(inJava, version, of(inJava, inJava.Server.URL(), version, name).java("main"), scenes)
	for i, step := range steps {
		if !slices.Equal(golang[i].exact, java[i].exact) {
			t.Errorf("step %d, %s: Go leaves\n\t%q\nJava\n\t%q", i, step, golang[i].exact, java[i].exact)
		}
		if !slices.Equal(slices.Sorted(maps.Keys(golang[i].times)), slices.Sorted(maps.Keys(java[i].times))) {
			t.Errorf("step %d, %s: Go has the times %v, Java %v", i, step, golang[i].times, java[i].times)
		}
		for of, ms := range golang[i].times {
			if apart := ms - java[i].times[of]; apart < -30_000 || apart > 30_000 || ms < 0 != (java[i].times[of] < 0) {
				t.Errorf("step %d, %s: Go's %s is %d, Java's %d", i, step, of, ms, java[i].times[of])
			}
		}
	}
	return len(steps)
}
