package lockstate

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/redistest"
)

// A call that fails leaves no AtLeast time with its owner, and takes none away.
func TestNestedGrantThatIsGivenBackChangesNoAtLeast(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, conn := open(t, s), s.Dial(t)
	for name, row := range map[string]struct{ outer, inner time.Duration }{
		"asked by the call that fails": {0, time.Hour},
		"asked by the outer hold":      {time.Hour, 0},
	} {
		for _, outerFirst := range []bool{false, true} {
			l := c.NewLock(kind.Reentrant, name, name)
			outer := acquireAs(t, &l, Terms{AtLeast: row.outer})
			w := l.NewWaiter()
			w.Terms = Terms{Owner: outer.Owner(), As: true, AtLeast: row.inner}
			if err := w.Start(); err != nil {
				t.Fatal(err)
			}
			redistest.Becomes(t, "it is granted", func() bool { return len(w.ready) == 1 })
			if outerFirst {
				unlock(t, outer)
			}
			if _, err := w.Result(t.Context(), context.Canceled); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if !outerFirst {
				unlock(t, outer)
			}
			if row.outer == 0 {
				becomes(t, conn, 0, "EXISTS", name)
				continue
			}
			becomes(t, conn, 0, "HEXISTS", name, outer.OwnerText())
			if left := do(t, conn, "PTTL", name).(int64); left < 50*60*1000 {
				t.Errorf("%s, first %v: it lives for %d ms", name, outerFirst, left)
			}
			do(t, conn, "DEL", name)
		}
	}
}
