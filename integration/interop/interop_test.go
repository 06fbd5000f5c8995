package interop

import (
	"testing"

	"github.com/rlock-go/redisson/integration/javapeer"
)

var behaviours = []struct {
	name string
	show func(*scene)
}{
	{"JavaHolderKeepsGoOut", javaHolderKeepsGoOut},
	{"GoHolderKeepsJavaOut", goHolderKeepsJavaOut},
	{"JavaLeaseEndsAndGoEnters", javaLeaseEndsAndGoEnters},
	{"GoLeaseEndsAndJavaEnters", goLeaseEndsAndJavaEnters},
	{"JavaWaiterIsWokenByGoUnlock", javaWaiterIsWokenByGoUnlock},
	{"GoWaiterIsWokenByJavaUnlock", goWaiterIsWokenByJavaUnlock},
	{"GoForceUnlockEndsJavaHold", goForceUnlockEndsJavaHold},
	{"JavaForceUnlockEndsGoHold", javaForceUnlockEndsGoHold},
	{"JavaSeesGoHolds", javaSeesGoHolds},
	{"GoSeesJavaHolds", goSeesJavaHolds},
	{"GoReentersJavaHold", goReentersJavaHold},
	{"JavaReleasesWhatGoTookInItsName", javaReleasesWhatGoTookInItsName},
	{"Names", names},
	{"NameMapper", nameMapper},
	{"CounterIsExactAcrossProcesses", counterIsExactAcrossProcesses},
	{"KilledGoProcessIsFollowedByJava", killedGoProcessIsFollowedByJava},
	{"KilledJVMIsFollowedByGo", killedJVMIsFollowedByGo},
	{"ManyWaitersOnBothSides", manyWaitersOnBothSides},
}

func TestInterop(t *testing.T) {
	for _, version := range javapeer.Versions {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			for _, b := range behaviours {
				t.Run(b.name, func(t *testing.T) { b.show(w.scene(t)) })
			}
			w.checkNothingIsLeft(t)
		})
	}
}
