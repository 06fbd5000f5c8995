package interop

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
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
	script("JavaHolderKeepsGoOut", `
		J t1 lock; has J t1 1; ttl 20s..30s; G a trylock = false; G a trylockfor 1s = false; J t1 trylock = true; has J t1 2
		G w& trylockfor 20s; J t1 unlock; has J t1 1; none # a partial release lets nobody in, the last one does
		J t1 unlock; G w ends = true; has G w 1; G w unlock; free`),
	script("GoHolderKeepsJavaOut", `
		G a lock; has G a 1; ttl 20s..30s; J t1 trylock = false; J t1 trylockfor 1s = false; J t1 trylockfor 1s 1m = false
		G a trylock = true; has G a 2; J t1& trylockfor 20s; G a unlock; has G a 1; none
		G a unlock; J t1 ends = true; has J t1 1; J t1 unlock; free`),
	script("JavaLeaseEndsAndGoEnters", `
		J t1 lock 3s; ttl 1ms..3s; expires G a lock 1m; ttl 50s..60s; has G a 1; J t1 unlock = not held; G a unlock; free`),
	{"GoLeaseEndsAndJavaEnters", true, func(s *scene) {
		s.skipSleepers()
		s.Run(`
			G a lock 3s; ttl 1ms..3s; expires J t1 trylockfor 20s 1m; ttl 50s..60s; G a lost; G a unlock = not held
			has J t1 1; J t1 unlock; free`)
	}},
	{"JavaWaiterIsWokenByGoUnlock", true, func(s *scene) {
		s.GoWakesJava = s.Woken(wakeUps, "G a lock", "J t1& lock; ttl 15s..30s", "G a unlock", "J t1 unlock")
		s.check("Go unlock → Java waiter in", s.GoWakesJava)
	}},
	// From Java to Go the pipe to the JVM is counted too: the message is often there before unlock() returns in Java.
	{"GoWaiterIsWokenByJavaUnlock", true, func(s *scene) {
		s.JavaWakesGo = s.Woken(wakeUps, "J t1 lock", "G w& lock; ttl 15s..30s", "J t1 unlock", "G w unlock")
		s.check("Java unlock → Go waiter in", s.JavaWakesGo)
	}},
	script("GoForceUnlockEndsJavaHold", `
		J t1 lock; G w& lock; J t2& lock; G x forceunlock = true; J t1 isheld = false; J t1 holdcount = 0; J t1 unlock = not held
		next unlock; next unlock; free; G x forceunlock = false`),
	{"JavaForceUnlockEndsGoHold", true, javaForceUnlockEndsGoHold},
	script("JavaSeesGoHolds", `
		view J t1 false 0; G a lock; view J t1 true 0; G a lock; has G a 2; view J t1 true 0; J t1 unlock = not held
		G a unlock; view J t1 true 0; G a unlock; view J t1 false 0`),
	// Without a hold of it, Go must not be able to release it by mistake.
	script("GoSeesJavaHolds", `
		G t is J t1; G o is J t2; view G t false 0
		J t1 lock; view G t true 1; view G o true 0; view J t1 true 1; J t1 lock; view G t true 2; view G o true 0; view J t1 true 2
		G x unlock = not held; J t1 unlock; view G t true 1; J t1 unlock; view G t false 0`),
	// Re-entered and released by the same hold; by one client and another that knows no more than the owner's name; and the last
	// release, too, may be Go's: it wakes those who wait in Java.
	script("GoReentersJavaHold", `
		G t is J t1; D u is J t1
		J t1 lock; G t trylock = true; has J t1 2; view J t1 true 2; view G t true 2; G t unlockas = refused
		G t unlock; has J t1 1; view J t1 true 1
		G t lock; has J t1 2; D u unlock; has J t1 1; ttl 15s..30s; J t2 trylock = false; J t1 unlock; free; G t unlock = not held
		J t1 lock; J t2& lock; D u unlock; J t2 ends; J t1 unlock = not held; J t2 unlock; free`),
	script("JavaReleasesWhatGoTookInItsName", `
		G t is J t1; G t lock; view J t1 true 1; J t1 lock; view J t1 true 2; J t1 unlock; J t1 unlock; view J t1 false 0
		G t unlock = not held`),
	{"Names", true, names},
	{"NameMapper", false, nameMapper},
	{"CounterIsExactAcrossProcesses", false, counterIsExactAcrossProcesses},
	{"KilledGoProcessIsFollowedByJava", true, func(s *scene) {
		s.skipSleepers()
		kill := s.kept()
		s.Run("ttl 1ms..3s; J t1& lock; renewed")
		kill()
		s.Run("none; expires J t1 ends; J t1 unlock; free")
	}},
	{"KilledJVMIsFollowedByGo", true, func(s *scene) {
		s.With("V", s.startJava(javapeer.WatchdogTimeout(killedLease)))
		s.Run("V t1 lock; ttl 1ms..3s; G w& lock; renewed; V dies; none; expires G w ends; ttl 15s..30s; G w unlock; free")
	}},
	{"ManyWaitersOnBothSides", false, manyWaitersOnBothSides},
}

func script(name, text string) Behaviour {
	return Behaviour{name, true, func(s *scene) { s.Run(text) }}
}

// SpinBehaviours are those of a spin lock. It is shown what a plain lock is, but for what a message does.
var SpinBehaviours = ofKind(javapeer.Spin, "JavaHolderKeepsGoOut", "GoHolderKeepsJavaOut", "GoForceUnlockEndsJavaHold",
	"JavaForceUnlockEndsGoHold", "JavaSeesGoHolds", "GoSeesJavaHolds", "GoReentersJavaHold", "JavaReleasesWhatGoTookInItsName",
	"CounterIsExactAcrossProcesses", "KilledGoProcessIsFollowedByJava", "KilledJVMIsFollowedByGo")

// likePlain is what the other kinds are shown that announce their releases.
var likePlain = []string{"JavaHolderKeepsGoOut", "GoHolderKeepsJavaOut", "JavaLeaseEndsAndGoEnters",
	"GoLeaseEndsAndJavaEnters", "JavaWaiterIsWokenByGoUnlock", "GoWaiterIsWokenByJavaUnlock", "GoForceUnlockEndsJavaHold",
	"JavaForceUnlockEndsGoHold", "JavaSeesGoHolds", "GoSeesJavaHolds", "GoReentersJavaHold", "JavaReleasesWhatGoTookInItsName",
	"CounterIsExactAcrossProcesses", "KilledGoProcessIsFollowedByJava", "KilledJVMIsFollowedByGo"}

// FairBehaviours are those of a fair lock. What else it is shown, order above all, is in package javakinds.
var FairBehaviours = ofKind(javapeer.Fair, likePlain...)

// WriteBehaviours are those of a write lock by itself. Package javakinds has what readers add.
var WriteBehaviours = ofKind(javapeer.Write, "JavaHolderKeepsGoOut", "GoHolderKeepsJavaOut", "JavaWaiterIsWokenByGoUnlock",
	"GoWaiterIsWokenByJavaUnlock", "GoForceUnlockEndsJavaHold", "JavaForceUnlockEndsGoHold", "JavaSeesGoHolds",
	"GoReentersJavaHold", "CounterIsExactAcrossProcesses", "KilledGoProcessIsFollowedByJava")

// FencedBehaviours are those of a fenced lock: what a plain lock is shown, and tokens.
var FencedBehaviours = append(ofKind(javapeer.Fenced, likePlain...), of(javapeer.Fenced,
	script("TokensGrowAcrossBothSides", `
		last 0; G a locktoken = 1; G a locktoken = 2; J t1 trytokenfor 0s = null; G a unlock; G a unlock; last 2
		J t1 locktoken = 3; J t1 lock; G b trylock = false; last 4; J t1 unlock; J t1 unlock # without being told
		G c locktoken = 5; J t1 forceunlock = true; J t1 locktoken = 6; J t1 unlock; G c unlock = not held
		G d locktoken 50ms = 7; gone; J t1 locktoken = 8; J t1 unlock; last 8`),
	// One Java and two Go waiters enter one after the other, in whatever order.
	script("WaitersOfBothSidesGetTokensInTurn", `
		G a lock; G b&& locktoken; D c&& locktoken; J t2&& locktoken; listeners 3
		G a unlock; next unlock = 2; next unlock = 3; next unlock = 4; free`),
	// A defect of Redisson's that Go has not: the TTL of -1 is its sign of a grant.
	script("JavaTakesALockWithoutATTLForAGrant", `
		! HSET $N OTHER 1; J t1 trytokenfor 0s 1m = -1; J t1 isheld = false; G a trylock = false; last 0; ! DEL $N`),
	// Another: lockAndGetToken(lease) takes the lock for the watchdog's time.
	script("JavaForgetsTheLeaseOfALockWithAToken", `
		J t1 locktoken 5s; ttl 6s..30s; J t1 unlock; G a locktoken 5s = 2; ttl 1ms..5s; G a unlock`),
)...)

// NonReentrantBehaviours are those of a non-reentrant lock: what a plain lock is shown that is entered once, and the refusal.
var NonReentrantBehaviours = append(ofKind(javapeer.NonReentrant, "JavaLeaseEndsAndGoEnters", "GoLeaseEndsAndJavaEnters",
	"JavaWaiterIsWokenByGoUnlock", "GoWaiterIsWokenByJavaUnlock", "GoForceUnlockEndsJavaHold", "JavaForceUnlockEndsGoHold",
	"CounterIsExactAcrossProcesses", "KilledGoProcessIsFollowedByJava", "KilledJVMIsFollowedByGo"),
	// Each side re-enters what the other's owner holds. By a plain lock it may: the rule is the handle's.
	of(javapeer.NonReentrant, script("OwnerIsRefusedOnBothSides", `
		G t is J t1; J t1 lock; G t lock = reentered; J t1 lock = reentered; has J t1 1
		G t :lock; has J t1 2; G t :unlock; J t1 unlock
		G t lock; J t1 lock = reentered; J t1 :lock; has J t1 2; J t1 :unlock; G t lock = reentered; G t unlock; free`))...)

// AtLeastBehaviours show a Java waiter beside a Go release that leaves the lock for a while.
var AtLeastBehaviours = slices.Concat(
	of(javapeer.Plain, Behaviour{"JavaEntersWhenGoAtLeastEnds", true, javaEntersWhenGoAtLeastEnds}),
	of(javapeer.Spin, Behaviour{"OfASpinLock", true, javaEntersWhenGoAtLeastEnds}),
	of(javapeer.Fair, Behaviour{"OfAFairLock", true, javaEntersWhenGoAtLeastEnds}))

func ofKind(k javapeer.Kind, names ...string) (all []Behaviour) {
	for _, name := range names {
		all = append(all, Behaviours[slices.IndexFunc(Behaviours, func(b Behaviour) bool { return b.Name == name })])
	}
	return of(k, all...)
}

func of(k javapeer.Kind, behaviours ...Behaviour) (all []Behaviour) {
	for _, b := range behaviours {
		all = append(all, Behaviour{b.Name, b.Brief, func(s *scene) {
			s.Kind = k
			b.show(s)
		}})
	}
	return all
}

// Show shows a behaviour, and fails t where it is not so. The lock's name is that of t.
func (w *World) Show(t *testing.T, b Behaviour) { b.show(w.scene(t)) }

// MultiBehaviours are those of several locks that are acquired together: of a read-write lock, plain, plain.
var MultiBehaviours = []Behaviour{
	multi("JavaHoldsAllOrNone", `
		J t1 lock@ALL; locked $1 $2 $3; G a trylock@ALL = false; J t1 unlock@ALL; locked
		G a write:lock; J t1 trylock@ALL = false; locked $1; G a write:unlock
		G a :lock@2; J t1 trylock@ALL = false; locked $2; G a :unlock@2
		G a :lock@3; J t1 trylock@ALL = false; locked $3; G a :unlock@3`),
	multi("GoHoldsAllOrNone", `
		G a lock@ALL; J t1 trylock@ALL = false; G a unlock@ALL; locked
		J t2 write:lock; G a trylock@ALL = false; locked $1; J t2 write:unlock
		J t2 :lock@2; G a trylock@ALL = false; locked $2; J t2 :unlock@2
		J t2 :lock@3; G a trylock@ALL = false; locked $3; J t2 :unlock@3`),
	{"EachSideIsWokenByTheOther", true, func(s *scene) {
		const round = 4500 * time.Millisecond // after which either side begins anew, message or no message
		s.several()
		for _, xy := range [][2]string{{"G", "J"}, {"J", "G"}} {
			x, y := xy[0], xy[1]
			d := Spread(s.Woken(15, x+" a lock@ALL", y+" w& lock@ALL", x+" a unlock@ALL", y+" w unlock@ALL"))
			s.Logf("Redisson %s, %s wakes the other in %v", s.version, x, d.Percentile(50))
			if d.Percentile(100) >= round {
				s.Errorf("%s came with the next round only", y)
			}
		}
		s.Run("locked")
	}},
	// Both have a lease that begins at last. Redisson takes up to all of it for a round.
	multi("LeasesBeginAtLast", `
		G a lock@ALL; G a unlock@ALL # scripts are there
		G a lock@ALL 10s; ttl 5s..10s $1 $2 $3; G a unlock@ALL; J t1 lock@ALL 10s; ttl 5s..10s $1 $2 $3; J t1 unlock@ALL`),
	// What Go does not do: the members behind one that was lost stay locked, and are renewed. Up to 3.21 Java releases all.
	multi("JavaStopsAtALostMember", `
		J t1 lock@ALL; ! DEL $2; J t1 unlock@ALL = not held
		3.22- locked
		3.22+ locked $3; G x :forceunlock@3
		G a lock@ALL; ! DEL $2; G a unlock@ALL = not held; locked`),
}

func multi(name, script string) Behaviour {
	return Behaviour{name, true, func(s *scene) {
		s.several()
		s.Run(script)
	}}
}

// several has the scene be about locks that are ALL together, and about the first.
func (s *scene) several() {
	base := s.Object
	for _, i := range []string{"1", "2", "3"} {
		s.Set(i, base+"/"+i)
	}
	s.Set("ALL", fmt.Sprintf("write=%s/1,%s/2,%s/3", base, base, base))
	s.Object, s.Kind = base+"/1", javapeer.Multi
}
