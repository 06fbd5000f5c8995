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
	// Name is the subtest's name.
	Name string
	// Brief means that it takes some seconds at most, with every release.
	Brief bool
	show  func(*scene)
}

// Behaviours are all of a plain lock, in the order in which they run.
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
		s.Most = wakeUpMost
		s.GoWakesJava = s.Woken(wakeUps, "G a lock", "J t1& lock; ttl 15s..30s", "G a unlock", "J t1 unlock")
		s.woken("Go unlock → Java waiter in", s.GoWakesJava)
	}},
	// The delay from Java to Go includes the pipe to the JVM: the message is often there before unlock() returns in Java.
	{"GoWaiterIsWokenByJavaUnlock", true, func(s *scene) {
		s.Most = wakeUpMost
		s.JavaWakesGo = s.Woken(wakeUps, "J t1 lock", "G w& lock; ttl 15s..30s", "J t1 unlock", "G w unlock")
		s.woken("Java unlock → Go waiter in", s.JavaWakesGo)
	}},
	script("GoForceUnlockEndsJavaHold", `
		J t1 lock; G w& lock; J t2& lock; G x forceunlock = true; J t1 isheld = false; J t1 holdcount = 0; J t1 unlock = not held
		next unlock; next unlock; free; G x forceunlock = false`),
	{"JavaForceUnlockEndsGoHold", true, javaForceUnlockEndsGoHold},
	script("JavaSeesGoHolds", `
		view J t1 false 0; G a lock; view J t1 true 0; G a lock; has G a 2; view J t1 true 0; J t1 unlock = not held
		G a unlock; view J t1 true 0; G a unlock; view J t1 false 0`),
	// An owner in Go without a hold can't release Java's by mistake.
	script("GoSeesJavaHolds", `
		G t is J t1; G o is J t2; view G t false 0
		J t1 lock; view G t true 1; view G o true 0; view J t1 true 1; J t1 lock; view G t true 2; view G o true 0; view J t1 true 2
		G x unlock = not held; J t1 unlock; view G t true 1; J t1 unlock; view G t false 0`),
	// Go re-enters and releases by the same hold, then by another client that knows only the owner's name. The last release,
	// too, may be Go's: it wakes Java's waiters.
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

// SpinBehaviours are those of a spin lock: of a plain lock's those that need no message.
var SpinBehaviours = ofKind(javapeer.Spin, "JavaHolderKeepsGoOut", "GoHolderKeepsJavaOut", "GoForceUnlockEndsJavaHold",
	"JavaForceUnlockEndsGoHold", "JavaSeesGoHolds", "GoSeesJavaHolds", "GoReentersJavaHold", "JavaReleasesWhatGoTookInItsName",
	"CounterIsExactAcrossProcesses", "KilledGoProcessIsFollowedByJava", "KilledJVMIsFollowedByGo")

// likePlain names a plain lock's behaviours that fair and fenced locks share.
var likePlain = []string{"JavaHolderKeepsGoOut", "GoHolderKeepsJavaOut", "JavaLeaseEndsAndGoEnters",
	"GoLeaseEndsAndJavaEnters", "JavaWaiterIsWokenByGoUnlock", "GoWaiterIsWokenByJavaUnlock", "GoForceUnlockEndsJavaHold",
	"JavaForceUnlockEndsGoHold", "JavaSeesGoHolds", "GoSeesJavaHolds", "GoReentersJavaHold", "JavaReleasesWhatGoTookInItsName",
	"CounterIsExactAcrossProcesses", "KilledGoProcessIsFollowedByJava", "KilledJVMIsFollowedByGo"}

// FairBehaviours are those of a fair lock. Package javakinds shows the rest, above all its order.
var FairBehaviours = ofKind(javapeer.Fair, likePlain...)

// WriteBehaviours are those of a write lock by itself. Package javakinds adds readers.
var WriteBehaviours = ofKind(javapeer.Write, "JavaHolderKeepsGoOut", "GoHolderKeepsJavaOut", "JavaWaiterIsWokenByGoUnlock",
	"GoWaiterIsWokenByJavaUnlock", "GoForceUnlockEndsJavaHold", "JavaForceUnlockEndsGoHold", "JavaSeesGoHolds",
	"GoReentersJavaHold", "CounterIsExactAcrossProcesses", "KilledGoProcessIsFollowedByJava")

// FencedBehaviours are those of a fenced lock: a plain lock's, and tokens.
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
	// A defect in Redisson, not in Go: it takes a TTL of -1 for a grant.
	script("JavaTakesALockWithoutATTLForAGrant", `
		! HSET $N OTHER 1; J t1 trytokenfor 0s 1m = -1; J t1 isheld = false; G a trylock = false; last 0; ! DEL $N`),
	// Another: lockAndGetToken(lease) takes the lock for the watchdog's time instead.
	script("JavaForgetsTheLeaseOfALockWithAToken", `
		J t1 locktoken 5s; ttl 6s..30s; J t1 unlock; G a locktoken 5s = 2; ttl 1ms..5s; G a unlock`),
)...)

// NonReentrantBehaviours are those of a non-reentrant lock: a plain lock's that enter once, and the refusal.
var NonReentrantBehaviours = append(ofKind(javapeer.NonReentrant, "JavaLeaseEndsAndGoEnters", "GoLeaseEndsAndJavaEnters",
	"JavaWaiterIsWokenByGoUnlock", "GoWaiterIsWokenByJavaUnlock", "GoForceUnlockEndsJavaHold", "JavaForceUnlockEndsGoHold",
	"CounterIsExactAcrossProcesses", "KilledGoProcessIsFollowedByJava", "KilledJVMIsFollowedByGo"),
	// Each side tries to re-enter the other's hold. Through a plain lock it may: only the non-reentrant handle refuses.
	of(javapeer.NonReentrant, script("OwnerIsRefusedOnBothSides", `
		G t is J t1; J t1 lock; G t lock = reentered; J t1 lock = reentered; has J t1 1
		G t :lock; has J t1 2; G t :unlock; J t1 unlock
		G t lock; J t1 lock = reentered; J t1 :lock; has J t1 2; J t1 :unlock; G t lock = reentered; G t unlock; free`))...)

// AtLeastBehaviours show a Java waiter for a lock that Go has released and that stays locked until AtLeast ends.
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

// Show runs a behaviour, and fails t if a side does otherwise. The lock's name is that of t.
func (w *World) Show(t *testing.T, b Behaviour) { b.show(w.scene(t)) }

// MultiBehaviours are those of several locks that are acquired together: a write lock and two plain ones.
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
		s.Most = 4 * time.Second // after half a second more either side starts over without a message
		s.several()
		for _, xy := range [][2]string{{"G", "J"}, {"J", "G"}} {
			x, y := xy[0], xy[1]
			s.woken(x+" wakes the other", s.Woken(15, x+" a lock@ALL", y+" w& lock@ALL", x+" a unlock@ALL", y+" w unlock@ALL"))
		}
		s.Run("locked")
	}},
	// On both sides the lease begins once the last lock is held. One round of Redisson's may take up to the whole lease.
	multi("LeasesBeginAtLast", `
		G a lock@ALL; G a unlock@ALL # scripts are there
		G a lock@ALL 10s; ttl 5s..10s $1 $2 $3; G a unlock@ALL; J t1 lock@ALL 10s; ttl 5s..10s $1 $2 $3; J t1 unlock@ALL`),
	// Unlike Go, Java leaves the members after a lost one locked, and renews them. Up to 3.21 it releases all.
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

// several makes the scene's object three locks, ALL together in scripts; checks look at the first.
func (s *scene) several() {
	base := s.Object
	for _, i := range []string{"1", "2", "3"} {
		s.Set(i, base+"/"+i)
	}
	s.Set("ALL", fmt.Sprintf("write=%s/1,%s/2,%s/3", base, base, base))
	s.Object, s.Kind = base+"/1", javapeer.Multi
}
