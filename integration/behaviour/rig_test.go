package behaviour_test

import (
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

const (
	patience = testbed.Patience
	// stall is for how long the machine may stand still in the middle of a test.
	stall = 2 * time.Second
)

// rig is a test with a server and a connection of its own to it.
type rig struct{ *testbed.Rig }

// start takes the server that the environment chooses. It may have other users.
func start(t *testing.T) *rig {
	t.Helper()
	return on(t, redisserver.Start(t))
}

// own starts a server that nobody else uses. Where the environment chooses several
// servers, a test that sets nothing up is content with those.
func own(t *testing.T, args ...string) (*rig, *redisserver.LocalServer) {
	t.Helper()
	if redisserver.ChoosesSeveral() && len(args) == 0 {
		return start(t), nil
	}
	s := redisserver.Local(t, args...)
	return on(t, s), s
}

func on(t *testing.T, s redisserver.Server) *rig {
	t.Helper()
	return &rig{testbed.New(t, s)}
}

// open makes a client of the rig's server that ends with the test.
func (r *rig) open(opts ...rlock.Option) *rlock.Client {
	r.Helper()
	return r.Open(r.Server.URL(), opts...)
}

// name is a lock name that nobody else uses.
func (r *rig) name() string { return "behaviour/" + r.Name() + "/" + rand.Text()[:10] }

// enter waits for a lock on a goroutine of its own.
func (r *rig) enter(l *rlock.Lock, opts ...rlock.AcquireOption) <-chan testbed.Entry {
	return testbed.Enter(r.Context(), l, opts...)
}

// outside checks that somebody still waits.
func (r *rig) outside(ch <-chan testbed.Entry) {
	r.Helper()
	select {
	case e := <-ch:
		r.Fatalf("the wait ended early: %v", e.Err)
	default:
	}
}

// wants checks that an error is another and says all of these.
func wants(t testing.TB, err, target error, texts ...string) {
	t.Helper()
	if err == nil || target != nil && !errors.Is(err, target) {
		t.Errorf("error %v, want %v", err, target)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not say %q", err, text)
		}
	}
}

// between checks that a time took from least to most; a stall comes on top of that.
func between(t testing.TB, what string, d, least, most time.Duration) {
	t.Helper()
	if d < least || d > most+stall {
		t.Errorf("%s took %v, want %v to %v", what, d, least, most)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(r *rig, s string) int {
	r.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		r.Fatal(err)
	}
	return n
}
