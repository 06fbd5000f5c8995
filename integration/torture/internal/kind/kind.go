// Package kind has the kinds of lock, and what is no lock, that can be put under torture: how both sides come by one, which scripts acquire
// it, and what is held against it. A further kind is a row of All.
package kind

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/torture/internal/checker"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Kind is one of them.
type Kind struct {
	Name  string
	Parts []javapeer.Kind // the locks of one name: one, or that to read and that to write; one of what is no lock, which is not used
	checker.Model
	acquires []string // the SHA-1 of the scripts, Go's whole, Java's own by how they begin
	// releases are likewise; nil: a release is known by its number of keys
	releases []string
}

// All are the kinds, the plain one first.
var All = []Kind{
	{"plain", []javapeer.Kind{javapeer.Plain}, checker.Model{}, []string{luasrc.LockScript.SHA1}, nil},
	{"fair", []javapeer.Kind{javapeer.Fair}, checker.Model{Order: true}, []string{luasrc.FairLockScript.SHA1, "8f6ed299", "d20501c2"}, nil},
	{"readwrite", []javapeer.Kind{javapeer.Read, javapeer.Write}, checker.Model{Shared: true}, []string{luasrc.ReadLockScript.SHA1, luasrc.WriteLockScript.SHA1, "95553a6f", "6306ba3b"}, nil},
	{"fenced", []javapeer.Kind{javapeer.Fenced}, checker.Model{Tokens: true}, []string{luasrc.FencedLockScript.SHA1, "46b5551b", "49babb5a"}, nil},
	{"nonreentrant", []javapeer.Kind{javapeer.NonReentrant}, checker.Model{Once: true}, []string{luasrc.NonReentrantLockScript.SHA1, "3daa7be6"}, nil},
	{"permits", []javapeer.Kind{javapeer.Plain}, checker.Model{Permits: 3}, []string{luasrc.PermitAcquireScript.SHA1, "992c96b0"}, []string{luasrc.PermitReleaseScript.SHA1, "4ce07945"}},
	{"semaphore", []javapeer.Kind{javapeer.Plain}, checker.Model{Permits: 3, Lasting: true}, []string{luasrc.SemaphoreAcquireScript.SHA1, "c7dc9d18"}, []string{luasrc.SemaphoreChangeScript.SHA1, "ae275824"}},
	{"latch", []javapeer.Kind{javapeer.Plain}, checker.Model{Count: 8}, []string{luasrc.CountDownScript.SHA1, "38060fab"}, []string{luasrc.CountDownScript.SHA1, "38060fab"}},
	{"multi", []javapeer.Kind{javapeer.Plain}, checker.Model{Several: true}, []string{luasrc.LockScript.SHA1}, nil},
}

// Named is the kind of that name.
func Named(name string) (k Kind, found bool) {
	i := slices.IndexFunc(All, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return k, false
	}
	return All[i], true
}

// Names are those of all kinds.
func Names() string {
	var names []string
	for _, k := range All {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}

// Round is which one it is now of those in which each name is used, by an instant at which the first began.
func (k Kind) Round(began int64) int {
	if k.Rounds() == 0 {
		return 0
	}
	return int((machineclock.Now() - began) / k.Rounds().Nanoseconds())
}

// Key is the key of a lock, by its number and the first round's keys.
func (k Kind) Key(lock int, keys []string) string {
	name := keys[lock%len(keys)]
	if k.Rounds() > 0 {
		name += ":" + strconv.Itoa(lock/len(keys))
	}
	return name
}

// Acquires matches an acquire of this kind by either side.
func (k Kind) Acquires(cmd []string) bool { return isOneOf(k.acquires, cmd) }

func isOneOf(scripts, cmd []string) bool {
	return slices.ContainsFunc(scripts, func(sha string) bool { return faultproxy.Script(sha)(cmd) })
}

// Releases matches a release. Of most kinds it has three keys or more, and a renewal one or two.
func (k Kind) Releases(cmd []string) bool {
	if k.releases != nil {
		return isOneOf(k.releases, cmd)
	}
	return isEval(cmd) && cmd[2] >= "3" && !k.Acquires(cmd)
}

// Renews matches a renewal.
func (k Kind) Renews(cmd []string) bool {
	return isEval(cmd) && cmd[2] < "3" && !k.Acquires(cmd) && !k.Releases(cmd)
}

func isEval(cmd []string) bool {
	return len(cmd) > 3 && strings.HasPrefix(strings.ToUpper(cmd[0]), "EVAL")
}
