package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlock-go/redisson/integration/javapeer"
)

// spinning is what a spin lock's owner can do, which is what a plain lock's can.
var spinning = ofKind(javapeer.Spin,
	"first use of each script", "first acquire", "first acquire, by a try", "re-entry", "re-entry with a shorter lease",
	"contended try", "fixed lease",
	"timed try that fails", "wait ended by an unlock", "timed wait ended by an unlock", "wait ended by expiry",
	"final unlock", "final unlock of a fixed lease", "partial unlock", "partial unlock of a fixed lease",
	"unlock by a stranger", "unlock of a lock that was lost", "force unlock of a locked one", "force unlock of an unlocked one",
	"renewal of one",
	"questions about a locked one", "questions about an unlocked one",
	`name "{a}b"`,
)

// ofKind has locks of another kind play scenarios of the plain one.
func ofKind(k javapeer.Kind, names ...string) (all []scenario) {
	for _, name := range names {
		i := slices.IndexFunc(plain, func(sc scenario) bool { return sc.name == name })
		if i < 0 {
			panic(fmt.Sprintf("wire: a plain lock has no scenario %q", name))
		}
		sc := plain[i]
		sc.name, sc.kind = titled(k, name), k
		all = append(all, sc)
	}
	return all
}

// titled is what a scenario of a kind, or the role of a script, is called among those of other kinds.
func titled(k javapeer.Kind, name string) string {
	if k == javapeer.Plain {
		return name
	}
	return string(k) + ": " + name
}

// untitled is the name without its kind.
func untitled(name string) string {
	_, own, found := strings.Cut(name, ": ")
	if !found {
		return name
	}
	return own
}
