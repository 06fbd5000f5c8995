// Package kind lists the kinds of lock that torture tests: how both sides create one, which scripts acquire and release it,
// and the Model by which it is judged. A new kind is a new row of All.
package kind

import (
	"slices"
	"strings"

	"github.com/rlock-go/redisson/integration/chaos/internal/checker"
	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/internal/luasrc"
)

type Kind struct {
	Name  string
	Parts []javapeer.Kind // the locks of one name: one, or the read and the write lock; not used for permits
	checker.Model
	acquires []string // SHA-1 of the scripts: whole for Go's, a prefix for Java's own
	// releases is likewise; if nil, a release is recognized by its number of keys
	releases []string
}

// All lists the kinds, the plain one first.
var All = []Kind{
	{"plain", []javapeer.Kind{javapeer.Plain}, checker.Model{}, []string{luasrc.LockScript.SHA1}, nil},
	{"shared", []javapeer.Kind{javapeer.Plain}, checker.Model{Common: true}, []string{luasrc.LockScript.SHA1}, nil},
	{"fair", []javapeer.Kind{javapeer.Fair}, checker.Model{Order: true}, []string{luasrc.FairLockScript.SHA1, "8f6ed299", "d20501c2"}, nil},
	{"readwrite", []javapeer.Kind{javapeer.Read, javapeer.Write}, checker.Model{Shared: true}, []string{luasrc.ReadLockScript.SHA1, luasrc.WriteLockScript.SHA1, "95553a6f", "6306ba3b"}, nil},
	{"fenced", []javapeer.Kind{javapeer.Fenced}, checker.Model{Tokens: true}, []string{luasrc.FencedLockScript.SHA1, "46b5551b", "49babb5a"}, nil},
	{"nonreentrant", []javapeer.Kind{javapeer.NonReentrant}, checker.Model{Once: true}, []string{luasrc.NonReentrantLockScript.SHA1, "3daa7be6"}, nil},
	{"permits", []javapeer.Kind{javapeer.Plain}, checker.Model{Permits: 3}, []string{luasrc.PermitAcquireScript.SHA1, "992c96b0"}, []string{luasrc.PermitReleaseScript.SHA1, "4ce07945"}},
	{"multi", []javapeer.Kind{javapeer.Plain}, checker.Model{Several: true}, []string{luasrc.LockScript.SHA1}, nil},
}

func Named(name string) (k Kind, found bool) {
	i := slices.IndexFunc(All, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return k, false
	}
	return All[i], true
}

func Names() string {
	var names []string
	for _, k := range All {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}

// Acquires reports whether cmd is an acquire of this kind by either side.
func (k Kind) Acquires(cmd []string) bool { return isOneOf(k.acquires, cmd) }

func isOneOf(scripts, cmd []string) bool {
	return slices.ContainsFunc(scripts, func(sha string) bool { return faultproxy.Script(sha)(cmd) })
}

// Releases reports whether cmd is a release. Most have at least three keys, or two without a latch; a renewal has one or two.
func (k Kind) Releases(cmd []string) bool {
	if k.releases != nil {
		return isOneOf(k.releases, cmd)
	}
	return isEval(cmd) && (cmd[2] >= "3" || faultproxy.Script(luasrc.UnlockToScript.SHA1)(cmd)) && !k.Acquires(cmd)
}

func (k Kind) Renews(cmd []string) bool {
	return isEval(cmd) && cmd[2] < "3" && !k.Acquires(cmd) && !k.Releases(cmd)
}

func isEval(cmd []string) bool {
	return len(cmd) > 3 && strings.HasPrefix(strings.ToUpper(cmd[0]), "EVAL")
}
