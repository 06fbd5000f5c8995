package locks

import (
	"testing"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// questioned is a kind whose count of holds is read by a script.
type questioned struct{ kind.Kind }

var questionedKind kind.Kind = questioned{kind.Reentrant}

var questionedCount = script("questioned_count", `return redis.call('hget', KEYS[1], ARGV[1])`)

func (k questioned) Ask(q kind.Question, w *kind.Want) kind.Query {
	query := k.Kind.Ask(q, w)
	if q == kind.HoldCount {
		query.Call = kind.Look(luasrc.Call{Script: questionedCount, Args: []any{questionedCount.SHA1, 1, w.Names.Key(), w.Owner}})
	}
	return query
}

// The server does not know the script, neither at the first read nor at a later one.
func TestQuestionsAndConfirmationsMayBeScripts(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, d := openDropping(t, s)
	l := c.NewLock(questionedKind, "a", "a")
	o := c.NewOwner()
	if a, err := l.Ask(t.Context(), kind.HoldCount, o); err != nil || a.N != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	conn := s.Dial(t)
	do(t, conn, "SCRIPT", "FLUSH")
	do(t, conn, "SCRIPT", "LOAD", luasrc.LockScript.Source)
	d.drop(luasrc.LockScript.SHA1)
	h := acquireAs(t, &l, Terms{As: true, Owner: o}) // it was granted, found by its count, undone, and granted again
	if d.lost.Load() != 1 {
		t.Fatal("nothing was lost")
	}
	if a, err := l.Ask(t.Context(), kind.HoldCount, o); err != nil || a.N != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	mustUnlock(t, h)
}
