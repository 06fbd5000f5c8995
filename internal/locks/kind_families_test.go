package locks

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// apart is a plain lock with its own family and channel. Its traits claim that its key is no hash.
type apart struct{ kind.Kind }

var apartKind kind.Kind = apart{kind.Reentrant}

var apartTraits = kind.Traits{Family: "apart", Width: 1, KeyType: "string", RenewGroup: "owned hash", Latched: true}

func (apart) Traits() *kind.Traits { return &apartTraits }

func (apart) Names(key string) kind.Names { return kind.Names{key, key + ":apart"} }

// With a lock of each family on one key, neither hears the other's messages, and neither ends the other's hold.
func TestKindsOfTwoFamiliesOnOneKeyDoNotMeet(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	o := config()
	o.Timeout = time.Minute // a subscriber that seems to be lost would wake all of its waiters
	c := openWith(t, s, o)
	plain, other := c.NewLock(kind.Reentrant, "k", "k"), c.NewLock(apartKind, "k", "k")
	h := mustAcquire(t, &plain)
	ended := make(chan outcome, 2)
	wait(t.Context(), t, &other, 0, ended, Terms{})
	wait(t.Context(), t, &plain, 1, ended, Terms{})
	for _, l := range []*Lock{&plain, &other} {
		redistest.Becomes(t, "it waits", func() bool { return l.Snapshot().Listening && !l.Snapshot().InFlight })
	}
	none(t, ended)
	if other.Snapshot().Waiting != 1 || plain.Snapshot().Waiting != 1 || other.Snapshot().Hold != nil || plain.Snapshot().Hold != h {
		t.Errorf("%+v, %+v", other.Snapshot(), plain.Snapshot())
	}
	mustUnlock(t, h)
	woken := next(t, ended)
	if woken.who != 1 {
		t.Fatal("the other heard of the plain lock's release")
	}
	mustUnlock(t, woken.hold)
	none(t, ended)
	redistest.Becomes(t, "the plain lock's state is forgotten", func() bool { return !plain.Snapshot().Known })
	if !other.Snapshot().Known {
		t.Error("the other's state is forgotten")
	}
	h = mustAcquire(t, &plain)
	do(t, conn, "PUBLISH", "k:apart", "0") // the key still exists
	none(t, ended)
	if _, err := ForceUnlock(t.Context(), &other); err == nil {
		t.Error("it takes a hash for its own")
	}
	if err := h.Err(); err != nil {
		t.Error(err)
	}
	mustUnlock(t, h)
	do(t, conn, "PUBLISH", "k:apart", "0")
	mustUnlock(t, next(t, ended).hold)
}
