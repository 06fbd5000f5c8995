package replicated_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/stalls"
	"github.com/rlock-go/redisson/rlock"
)

func TestMain(m *testing.M) { testbed.Main(m, "6", stalls.Watch()) }

const (
	farOff = time.Minute

	// long is a lease whose third is far beyond any change of roles here: a hold that is renewed sooner was renewed because
	// of the change.
	long = 10 * time.Minute

	// named is the name of a client's connections, to count them.
	named = "follows"
)

var lock, unlock = testbed.Lock, testbed.Unlock

// has tells whether a server has a key. It dials anew, since a server that is demoted may end its connections.
func has(t *testing.T, s *redistest.Server, key string) bool {
	t.Helper()
	there, err := redis.Bool(s.Dial(t).Do("EXISTS", key))
	testbed.Must(t, err)
	return there
}

// everywhere waits until each node has a key.
func everywhere(t *testing.T, set *redistest.ReplicatedSet, key string) {
	t.Helper()
	for _, n := range set.Nodes {
		testbed.BecomesWithin(t, farOff, "on each node", func() bool { return has(t, n, key) })
	}
}

func untilRenewed(t *testing.T, h *rlock.Hold, until time.Time) {
	t.Helper()
	testbed.BecomesWithin(t, farOff, "renewed", func() bool { return h.ValidUntil().After(until.Add(time.Millisecond)) || h.Err() != nil })
	testbed.Must(t, h.Err())
}

// connections returns the lines of a server's CLIENT LIST with connections of the clients named so, but those that ask for
// the server's role.
func connections(t *testing.T, s *redistest.Server) (lines []string) {
	t.Helper()
	list, err := redis.String(s.Dial(t).Do("CLIENT", "LIST"))
	testbed.Must(t, err)
	for line := range strings.Lines(list) {
		if strings.Contains(line, " name="+named+" ") && !strings.Contains(line, " cmd=info ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// bothNamed checks that a client could not be opened, and why.
func bothNamed(t *testing.T, err error, one, other string) {
	t.Helper()
	if !errors.Is(err, rlock.ErrUnavailable) || !strings.Contains(err.Error(), one) || !strings.Contains(err.Error(), other) {
		t.Errorf("opened, or for another reason than %s and %s: %v", one, other, err)
	}
}
