package wire

import (
	"slices"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m, "5") }

func TestGoSaysOnTheWireWhatJavaSays(t *testing.T) {
	for what, names := range map[string][]string{
		"plain":  Names(javapeer.Plain),
		"others": slices.Concat(Names(javapeer.Spin), Names(javapeer.Fenced), Names(javapeer.NonReentrant)),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			compareAll(t, New(t, javapeer.Newest), names)
		})
	}
}

// TestGoSaysOnTheWireWhatOtherSpinLocksSay has the spin locks of other releases; the newest is above.
func TestGoSaysOnTheWireWhatOtherSpinLocksSay(t *testing.T) {
	t.Parallel()
	compareOthers(t, javapeer.SpinVersions(false), Names(javapeer.Spin))
}

// TestGoSaysOnTheWireWhatOtherFencedLocksSay has the fenced locks of other releases.
func TestGoSaysOnTheWireWhatOtherFencedLocksSay(t *testing.T) {
	t.Parallel()
	compareOthers(t, javapeer.FencedVersions(*full), Names(javapeer.Fenced))
}

func compareOthers(t *testing.T, versions, names []string) {
	for _, version := range versions {
		if version == javapeer.Newest {
			continue
		}
		t.Run(version, func(t *testing.T) {
			p := New(t, version)
			compareAll(t, p, names)
			for _, name := range p.Unused() {
				t.Errorf("the justification %q has nothing to justify", name)
			}
		})
	}
}

func compareAll(t *testing.T, p *Proof, names []string) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			f := p.Play(t, name)
			if f.Difference != "" {
				t.Errorf("the traces differ:\n%s\nJava:\n%sGo:\n%s", f.Difference, f.Java, f.Go)
			}
			for _, name := range f.Unused {
				t.Errorf("the justification %q has nothing to justify", name)
			}
		})
	}
	// The lock script shares the server's cache with Java's. It is missing if only a part of the scenarios was asked for.
	for _, sha := range []string{p.javaSHA["lock"], p.goSHA["lock"]} {
		if sha != lockSHA && sha != "" {
			t.Errorf("a lock script is %s, want %s", sha, lockSHA)
		}
	}
}

// TestJustifiedScenariosExist: a justification of a scenario that is not played would never be reported as unused.
func TestJustifiedScenariosExist(t *testing.T) {
	for _, j := range justified {
		for _, name := range j.scenarios {
			if !slices.Contains(Names(javapeer.Plain), name) {
				t.Errorf("%q is justified for %q, which is no scenario", j.rule.name, name)
			}
		}
		if j.reason == "" {
			t.Errorf("%q has no reason", j.rule.name)
		}
	}
}
