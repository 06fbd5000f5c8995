package locks

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// strict is a kind that refuses a second entry, and every entry while its key has a mark.
type strict struct{ kind.Kind }

var strictKind kind.Kind = strict{kind.Reentrant}

var strictTraits = kind.Traits{Family: "strict", Width: 1, KeyType: "hash", RenewGroup: "owned hash", Latched: true}

var strictLock = script("strict_lock", `
	if redis.call('hexists', KEYS[1], 'marked') == 1 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then return 'refused' end
	if redis.call('exists', KEYS[1]) == 1 then return redis.call('pttl', KEYS[1]) end
	redis.call('hset', KEYS[1], ARGV[2], 1)
	redis.call('pexpire', KEYS[1], ARGV[1])
	return nil`)

var errStrict = errors.New("it is strict")

func (strict) Traits() *kind.Traits { return &strictTraits }

func (strict) Acquire(_ []any, w *kind.Want) kind.Call {
	return run(strictLock, kind.Never, w.Names[:1], w.Lease, w.Owner)
}

func (k strict) Granted(reply any) (kind.Grant, error) {
	if said, ok := reply.([]byte); ok && string(said) == "refused" {
		return kind.Grant{Refused: errStrict}, nil
	}
	return k.Kind.Granted(reply)
}

// ends returns the error with which a wait ends.
func ends(t *testing.T, l *Lock, terms Terms) error {
	t.Helper()
	ended := make(chan outcome, 1)
	wait(t.Context(), t, l, 0, ended, terms)
	select {
	case o := <-ended:
		return o.err
	case <-time.After(2 * soon):
		t.Fatal("the wait does not end")
	}
	return nil
}

func TestKindsOwnRefusalEndsTheWaitAndUndoesNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := open(t, s)
	l := c.NewLock(strictKind, "s", "s")
	do(t, conn, "SCRIPT", "LOAD", strictLock.Source)
	do(t, conn, "HSET", "s", "marked", 1)
	tap := monitor.Tap(t, s.URL())
	if err := ends(t, &l, Terms{}); !errors.Is(err, errStrict) {
		t.Errorf("%v", err)
	}
	sent := 0
	for _, line := range tap.Mark() {
		if line.Is("EVALSHA") {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("%d scripts were sent for one refusal", sent)
	}
	do(t, conn, "DEL", "s")
	h := mustAcquire(t, &l)
	if err := ends(t, &l, Terms{As: true, Owner: h.Owner()}); !errors.Is(err, errStrict) {
		t.Errorf("%v", err)
	}
	if err := h.Err(); err != nil {
		t.Error(err)
	}
	mustUnlock(t, h)
	if l.Snapshot().Known {
		t.Error("something is left of the name")
	}
}
