package interop

import (
	"slices"
	"testing"

	"github.com/rlock-go/redisson/integration/javapeer"
)

// Behaviour is one thing that both sides must see alike.
type Behaviour struct {
	// Name is that of the subtest.
	Name string
	// Brief tells that it takes some seconds at most, with every release.
	Brief bool
	show  func(*scene)
}

// Behaviours are all of a plain lock, in their order.
var Behaviours = []Behaviour{
	{"JavaHolderKeepsGoOut", true, javaHolderKeepsGoOut},
	{"GoHolderKeepsJavaOut", true, goHolderKeepsJavaOut},
	{"JavaLeaseEndsAndGoEnters", true, javaLeaseEndsAndGoEnters},
	{"GoLeaseEndsAndJavaEnters", true, goLeaseEndsAndJavaEnters},
	{"JavaWaiterIsWokenByGoUnlock", true, javaWaiterIsWokenByGoUnlock},
	{"GoWaiterIsWokenByJavaUnlock", true, goWaiterIsWokenByJavaUnlock},
	{"GoForceUnlockEndsJavaHold", true, goForceUnlockEndsJavaHold},
	{"JavaForceUnlockEndsGoHold", true, javaForceUnlockEndsGoHold},
	{"JavaSeesGoHolds", true, javaSeesGoHolds},
	{"GoSeesJavaHolds", true, goSeesJavaHolds},
	{"GoReentersJavaHold", true, goReentersJavaHold},
	{"JavaReleasesWhatGoTookInItsName", true, javaReleasesWhatGoTookInItsName},
	{"Names", true, names},
	{"NameMapper", false, nameMapper},
	{"CounterIsExactAcrossProcesses", false, counterIsExactAcrossProcesses},
	{"KilledGoProcessIsFollowedByJava", true, killedGoProcessIsFollowedByJava},
	{"KilledJVMIsFollowedByGo", true, killedJVMIsFollowedByGo},
	{"ManyWaitersOnBothSides", false, manyWaitersOnBothSides},
}

// SpinBehaviours are those of a spin lock. It is shown what a plain lock is, but for what a message does.
var SpinBehaviours = ofKind(javapeer.Spin, "JavaHolderKeepsGoOut", "GoHolderKeepsJavaOut", "GoForceUnlockEndsJavaHold",
	"JavaForceUnlockEndsGoHold", "JavaSeesGoHolds", "GoSeesJavaHolds", "GoReentersJavaHold", "JavaReleasesWhatGoTookInItsName",
	"CounterIsExactAcrossProcesses", "KilledGoProcessIsFollowedByJava", "KilledJVMIsFollowedByGo")

// FairBehaviours are those of a fair lock. What else it is shown, order above all, is in package javafair.
var FairBehaviours = ofKind(javapeer.Fair, "JavaHolderKeepsGoOut", "GoHolderKeepsJavaOut", "JavaLeaseEndsAndGoEnters",
	"GoLeaseEndsAndJavaEnters", "JavaWaiterIsWokenByGoUnlock", "GoWaiterIsWokenByJavaUnlock", "GoForceUnlockEndsJavaHold",
	"JavaForceUnlockEndsGoHold", "JavaSeesGoHolds", "GoSeesJavaHolds", "GoReentersJavaHold", "JavaReleasesWhatGoTookInItsName",
	"CounterIsExactAcrossProcesses", "KilledGoProcessIsFollowedByJava", "KilledJVMIsFollowedByGo")

// WriteBehaviours are those of a write lock by itself. Package javareadwrite has what readers add.
var WriteBehaviours = ofKind(javapeer.Write, "JavaHolderKeepsGoOut", "GoHolderKeepsJavaOut", "JavaWaiterIsWokenByGoUnlock",
	"GoWaiterIsWokenByJavaUnlock", "GoForceUnlockEndsJavaHold", "JavaForceUnlockEndsGoHold", "JavaSeesGoHolds",
	"GoReentersJavaHold", "CounterIsExactAcrossProcesses", "KilledGoProcessIsFollowedByJava")

func ofKind(k javapeer.Kind, names ...string) (all []Behaviour) {
	for _, name := range names {
		i := slices.IndexFunc(Behaviours, func(b Behaviour) bool { return b.Name == name })
		b := Behaviours[i]
		all = append(all, Behaviour{b.Name, b.Brief, func(s *scene) {
			s.use(k)
			b.show(s)
		}})
	}
	return all
}

// Show shows a behaviour, and fails t where it is not so. The lock's name is that of t.
func (w *World) Show(t *testing.T, b Behaviour) { b.show(w.scene(t)) }
