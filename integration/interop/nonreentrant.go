package interop

import (
	"errors"
	"strings"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// NonReentrantBehaviours are those of a non-reentrant lock: what a plain lock is shown that is entered once, and the refusal.
var NonReentrantBehaviours = append(ofKind(javapeer.NonReentrant, "JavaLeaseEndsAndGoEnters", "GoLeaseEndsAndJavaEnters",
	"JavaWaiterIsWokenByGoUnlock", "GoWaiterIsWokenByJavaUnlock", "GoForceUnlockEndsJavaHold", "JavaForceUnlockEndsGoHold",
	"CounterIsExactAcrossProcesses", "KilledGoProcessIsFollowedByJava", "KilledJVMIsFollowedByGo"),
	Behaviour{"OwnerIsRefusedOnBothSides", true, func(s *scene) {
		s.use(javapeer.NonReentrant)
		ownerIsRefusedOnBothSides(s)
	}})

// ownerIsRefusedOnBothSides has each side re-enter what the other's owner holds. By a plain lock it may: the rule is the
// handle's.
func ownerIsRefusedOnBothSides(s *scene) {
	ctx, t1, plain := s.Context(), s.thread("t1"), s.java.Thread("t1")
	owner := s.owner(t1)
	goRefused := func() {
		s.Helper()
		if _, err := s.lock.Lock(ctx, rlock.As(owner)); !errors.Is(err, rlock.ErrReentered) {
			s.Fatalf("Go: %v", err)
		}
	}
	javaRefused := func() {
		s.Helper()
		_, err := t1.Lock(ctx, s.name, javapeer.Watchdog)
		if e, is := errors.AsType[*javapeer.JavaError](err); !is || !strings.HasSuffix(e.Class, "IllegalMonitorStateException") {
			s.Fatalf("Java: %v", err)
		}
	}
	s.ok(t1.Lock(ctx, s.name, javapeer.Watchdog))
	goRefused()
	javaRefused()
	s.serverHas(map[string]string{owner.String(): "1"})
	hold := s.got(s.client.NewLock(s.name).Lock(ctx, rlock.As(owner)))
	s.serverHas(map[string]string{owner.String(): "2"})
	s.must(hold.Unlock(ctx))
	s.ok(t1.Unlock(ctx, s.name))

	hold = s.got(s.lock.Lock(ctx, rlock.As(owner)))
	javaRefused()
	s.ok(plain.Lock(ctx, s.name, javapeer.Watchdog))
	s.serverHas(map[string]string{owner.String(): "2"})
	s.ok(plain.Unlock(ctx, s.name))
	goRefused()
	s.must(hold.Unlock(ctx))
	s.serverHas(nil)
}
