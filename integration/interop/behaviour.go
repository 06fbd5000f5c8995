package interop

import "testing"

// Behaviour is one thing that both sides must see alike.
type Behaviour struct {
	// Name is that of the subtest.
	Name string
	// Brief tells that it takes some seconds at most, with every release.
	Brief bool
	show  func(*scene)
}

// Behaviours are all, in their order.
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

// Show shows a behaviour, and fails t where it is not so. The lock's name is that of t.
func (w *World) Show(t *testing.T, b Behaviour) { b.show(w.scene(t)) }
