package wire

import (
	"strings"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// nonReentrant is what a non-reentrant lock's owner can do: what a plain lock's can that holds once, and to be refused.
var nonReentrant = slicesOf(ofKind(javapeer.NonReentrant,
	"first use of each script", "first acquire", "first acquire, by a try", "contended try",
	"timed try that fails", "wait ended by an unlock", "timed wait ended by an unlock", "wait ended by expiry",
	"final unlock", "final unlock of a fixed lease",
	"unlock by a stranger", "unlock of a lock that was lost", "force unlock of a locked one", "force unlock of an unlocked one",
	"renewal of one", "questions about an unlocked one",
	`name "{a}b"`,
), []scenario{{
	name: "nonreentrant: re-entry", kind: javapeer.NonReentrant,
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, dog))
		_, err := s.t1.Lock(s.ctx(), n, dog)
		s.reacquired(err)
		_, err = s.t1.TryLock(s.ctx(), n)
		s.reacquired(err)
		_, err = s.t1.TryLockFor(s.ctx(), n, patience, dog)
		s.reacquired(err)
		return nil
	},
	golang: func(s *goSide, n string) error {
		l := s.lock(n)
		h := s.ok(l.Lock(s.ctx()))
		_, err := l.Lock(s.ctx(), rlock.As(h.Owner()))
		s.is(rlock.ErrReentered, err)
		_, err = l.TryLock(s.ctx(), rlock.As(h.Owner()))
		s.is(rlock.ErrReentered, err)
		_, err = l.TryLockFor(s.ctx(), patience, rlock.As(h.Owner()))
		s.is(rlock.ErrReentered, err)
		return nil
	},
}})

// reacquired takes the error of an acquire by the lock's own owner.
func (s *javaSide) reacquired(err error) {
	s.T.Helper()
	if err == nil || !strings.Contains(err.Error(), "non-reentrant") {
		s.T.Errorf("Java says %v, want that it is not re-entrant", err)
	}
}

// ownersStatus has Go's script answer an error where it has a status.
var ownersStatus = rule{"a non-reentrant lock's owner is refused by a status", func(_, golang *trace) (found bool) {
	for i := range golang.steps {
		if s := &golang.steps[i]; s.role == "lock" && s.reply == "status "+reacquired {
			s.reply, found = "error ERR "+reacquired, true
		}
	}
	return found
}}
