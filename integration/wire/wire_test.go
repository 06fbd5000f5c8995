package wire

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// plays is how often a scenario is tried that the machine was too slow for.
const plays = 6

// benches are servers with a Redisson each, one for each watchdog timeout.
type benches struct {
	t  *testing.T
	by map[time.Duration]*bench
}

type bench struct {
	rig  *rig
	java *javaSide
}

func newBenches(t *testing.T) *benches { return &benches{t, map[time.Duration]*bench{}} }

// on gives the bench for a scenario; what goes wrong on it fails t.
func (bs *benches) on(t *testing.T, sc scenario) *bench {
	b := bs.by[sc.lease()]
	if b == nil {
		var options []javapeer.Option
		if sc.lease() != byDefault {
			options = append(options, javapeer.WatchdogTimeout(sc.lease()))
		}
		b = &bench{rig: newRig(bs.t)}
		b.java = newJava(b.rig, options...)
		bs.by[sc.lease()] = b
	}
	b.rig.t = t
	t.Cleanup(func() { b.rig.t = bs.t })
	return b
}

// playJava records Redisson.
func (b *bench) playJava(sc scenario) trace {
	b.rig.t.Helper()
	var last trace
	for range plays {
		b.rig.play(b.java.proxy, sc.firstUse)
		err := sc.java(b.java, sc.key())
		recorded := b.rig.finish()
		b.java.release()
		last = normalise(b.java.id, sc.lease(), sc.firstUse, recorded)
		if err == nil {
			return last
		}
		if !errors.Is(err, errUntimely) {
			b.rig.t.Fatal(err)
		}
	}
	b.rig.t.Fatalf("Java: %v, %d times; the last:\n%s", errUntimely, plays, last)
	panic("unreachable")
}

// playGo records package rlock, with a client of its own. altered scripts take the place of the library's.
func (b *bench) playGo(sc scenario, altered ...script) trace {
	b.rig.t.Helper()
	var last trace
	for range plays {
		s := b.newGo(sc, altered)
		b.rig.play(s.proxy, sc.firstUse)
		err := sc.golang(s, sc.key())
		recorded := b.rig.finish()
		s.client.Close()
		s.proxy.Close()
		last = normalise(s.id, sc.lease(), sc.firstUse, recorded)
		if err == nil {
			return last
		}
		if !errors.Is(err, errUntimely) {
			b.rig.t.Fatal(err)
		}
	}
	b.rig.t.Fatalf("Go: %v, %d times; the last:\n%s", errUntimely, plays, last)
	panic("unreachable")
}

func (b *bench) newGo(sc scenario, altered []script) *goSide {
	var options []rlock.Option
	if sc.lease() != byDefault {
		options = append(options, rlock.WithWatchdogTimeout(sc.lease()))
	}
	return newGo(b.rig, altered, options...)
}

func TestGoSaysOnTheWireWhatJavaSays(t *testing.T) {
	table := []string{"scenario | commands, calls in scripts | result"}
	javaSHAs, goSHAs := map[string]string{}, map[string]string{}
	benches := newBenches(t)
	for _, sc := range scenarios {
		ran := false
		t.Run(sc.name, func(t *testing.T) {
			b := benches.on(t, sc)
			java, golang := b.playJava(sc), b.playGo(sc)
			maps.Copy(javaSHAs, java.shas)
			maps.Copy(goSHAs, golang.shas)
			rules, reasons := rulesFor(sc.name)
			report, unused := compare(java, golang, rules)
			if report != "" {
				t.Errorf("the traces differ:\n%s\nJava:\n%sGo:\n%s", report, java, golang)
			}
			for _, name := range unused {
				t.Errorf("the justification %q has nothing to justify", name)
			}
			verdict := "equal"
			if len(reasons) > 0 {
				verdict = "justified: " + strings.Join(reasons, " ")
			}
			if t.Failed() {
				verdict = "DIFFERENT"
			}
			table = append(table, fmt.Sprintf("%s | %d, %d | %s", sc.name, len(java.steps), java.calls(), verdict))
			ran = true
		})
		if !ran && t.Failed() {
			table = append(table, sc.name+" | | FAILED")
		}
	}
	table = append(table, "", "script | Java's SHA-1 | Go's SHA-1")
	for _, role := range slices.Sorted(maps.Keys(javaSHAs)) {
		table = append(table, fmt.Sprintf("%s | %s | %s", role, javaSHAs[role], goSHAs[role]))
	}
	t.Logf("\n%s", strings.Join(table, "\n"))
	// The lock script shares the server's cache with Java's. It is missing if only a part of the scenarios was asked for.
	for _, sha := range []string{javaSHAs["lock"], goSHAs["lock"]} {
		if sha != lockSHA && sha != "" {
			t.Errorf("a lock script is %s, want %s", sha, lockSHA)
		}
	}
}

// A justification of a scenario that is not played would never be missed.
func TestJustifiedScenariosExist(t *testing.T) {
	for _, j := range justified {
		for _, name := range j.scenarios {
			if !slices.ContainsFunc(scenarios, func(sc scenario) bool { return sc.name == name }) {
				t.Errorf("%q is justified for %q, which is no scenario", j.rule.name, name)
			}
		}
		if j.reason == "" {
			t.Errorf("%q has no reason", j.rule.name)
		}
	}
}
