package wire

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/redisserver"
)

// local starts the redis-server that is in PATH.
func local(t testing.TB) *redisserver.LocalServer { return redisserver.Local(t) }

func TestGoSaysOnTheWireWhatJavaSays(t *testing.T) {
	t.Parallel()
	compareAll(t, New(t, javapeer.Newest, local), slices.Concat(Names(), SpinNames(), FencedNames(), NonReentrantNames()))
}

// The spin locks of other releases; the newest is above.
func TestGoSaysOnTheWireWhatOtherSpinLocksSay(t *testing.T) {
	t.Parallel()
	compareOthers(t, javapeer.SpinVersions(false), SpinNames())
}

// The fenced locks of other releases.
func TestGoSaysOnTheWireWhatOtherFencedLocksSay(t *testing.T) {
	t.Parallel()
	compareOthers(t, javapeer.FencedVersions(*full), FencedNames())
}

func compareOthers(t *testing.T, versions, names []string) {
	for _, version := range versions {
		if version == javapeer.Newest {
			continue
		}
		t.Run(version, func(t *testing.T) {
			p := New(t, version, local)
			compareAll(t, p, names)
			for _, name := range p.Unused() {
				t.Errorf("the justification %q has nothing to justify", name)
			}
		})
	}
}

func compareAll(t *testing.T, p *Proof, names []string) {
	table := []string{"scenario | commands, calls in scripts | result"}
	for _, name := range names {
		ran := false
		t.Run(name, func(t *testing.T) {
			f := p.Play(t, name)
			if f.Difference != "" {
				t.Errorf("the traces differ:\n%s\nJava:\n%sGo:\n%s", f.Difference, f.Java, f.Go)
			}
			for _, name := range f.Unused {
				t.Errorf("the justification %q has nothing to justify", name)
			}
			verdict := "equal"
			if len(f.Justified) > 0 {
				var reasons []string
				for _, d := range f.Justified {
					reasons = append(reasons, d.Reason)
				}
				verdict = "justified: " + strings.Join(reasons, " ")
			}
			if t.Failed() {
				verdict = "DIFFERENT"
			}
			table = append(table, fmt.Sprintf("%s | %d, %d | %s", name, f.Commands, f.Calls, verdict))
			ran = true
		})
		if !ran && t.Failed() {
			table = append(table, name+" | | FAILED")
		}
	}
	table = append(table, "", "script | Java's SHA-1 | Go's SHA-1")
	for _, role := range slices.Sorted(maps.Keys(p.javaSHA)) {
		table = append(table, fmt.Sprintf("%s | %s | %s", role, p.javaSHA[role], p.goSHA[role]))
	}
	t.Logf("\n%s", strings.Join(table, "\n"))
	// The lock script shares the server's cache with Java's. It is missing if only a part of the scenarios was asked for.
	for _, sha := range []string{p.javaSHA["lock"], p.goSHA["lock"]} {
		if sha != lockSHA && sha != "" {
			t.Errorf("a lock script is %s, want %s", sha, lockSHA)
		}
	}
}

// What Redisson sent before there were latches, byte for byte of KEYS and ARGV, is what an owner that is used once is
// unlocked by. Beside the newest release the latch is the one difference, and it has one name.
func TestOwnerThatIsUsedOnceIsUnlockedAsBeforeLatches(t *testing.T) {
	t.Parallel()
	for version, want := range map[string][]string{
		"3.16.8":        {byText.name, otherLockText.name},
		"3.21.3":        {byText.name},
		javapeer.Newest: {usedOnce.name},
	} {
		t.Run(version, func(t *testing.T) {
			p := New(t, version, local)
			for _, scenario := range []string{"final unlock", "final unlock of a fixed lease"} {
				f := p.Play(t, scenario)
				if f.Difference != "" {
					t.Errorf("%s: the traces differ:\n%s", scenario, f.Difference)
				}
				var justified []string
				for _, d := range f.Justified {
					justified = append(justified, d.Name)
				}
				if !slices.Equal(justified, want) {
					t.Errorf("%s: justified are %q, want %q", scenario, justified, want)
				}
			}
		})
	}
}

// A justification of a scenario that is not played would never be missed.
func TestJustifiedScenariosExist(t *testing.T) {
	for _, j := range justified {
		for _, name := range j.scenarios {
			if !slices.Contains(Names(), name) {
				t.Errorf("%q is justified for %q, which is no scenario", j.rule.name, name)
			}
		}
		if j.reason == "" {
			t.Errorf("%q has no reason", j.rule.name)
		}
	}
}
