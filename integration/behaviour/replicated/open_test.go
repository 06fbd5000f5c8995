package replicated_test

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// TestAccountAndDatabaseAreThoseOfEveryNode uses a password and a database before and after a change of roles.
func TestAccountAndDatabaseAreThoseOfEveryNode(t *testing.T) {
	t.Parallel()
	set := redistest.StartReplicated(t, 1, "--requirepass", "sesame", "--masterauth", "sesame")
	c := testbed.Open(t, "redis+replicated://:sesame@"+set.Addrs()+"/3", rlock.WithWatchdogTimeout(long))
	h := lock(t, c.NewLock("kept"))
	before := h.ValidUntil()
	set.Swap(set.Nodes[0], set.Nodes[1])
	untilRenewed(t, h, before)
	conn := set.Nodes[1].Dial(t)
	testbed.Do(t, conn, "SELECT", 3)
	if n, err := conn.Do("EXISTS", "kept"); n != int64(1) || err != nil {
		t.Errorf("database 3 of the master: %v, %v", n, err)
	}
	unlock(t, h)
	_, err := rlock.Open(t.Context(), "redis+replicated://:wrong@"+set.Addrs())
	if !errors.Is(err, rlock.ErrRefused) || !strings.Contains(err.Error(), "WRONGPASS") {
		t.Errorf("a wrong password: %v", err)
	}
}

// TestAccountThatMayNotAskForRoles follows a change of roles with an account that may not ask all that the client would
// like to know. HELLO needs no rights, and says what a node is.
func TestAccountThatMayNotAskForRoles(t *testing.T) {
	t.Parallel()
	set := redistest.StartReplicated(t, 1)
	holds := map[string]*rlock.Hold{}
	for user, denied := range map[string][]any{"a": {"-role"}, "b": {"-info"}, "c": {"-role", "-info"}} {
		for _, n := range set.Nodes {
			testbed.Do(t, n.Dial(t), "ACL", append([]any{"SETUSER", user, "on", ">p", "~*", "&*", "+@all"}, denied...)...)
		}
		c := testbed.Open(t, "redis+replicated://"+user+":p@"+set.Addrs(), rlock.WithWatchdogTimeout(long))
		holds[user] = lock(t, c.NewLock(user))
		if n, err := set.Nodes[1].Dial(t).Do("EXISTS", user); n != int64(1) || err != nil {
			t.Errorf("%s entered before the replica had it: %v, %v", user, n, err)
		}
	}
	before := map[string]time.Time{}
	for user, h := range holds {
		before[user] = h.ValidUntil()
	}
	set.Swap(set.Nodes[0], set.Nodes[1])
	for user, h := range holds {
		untilRenewed(t, h, before[user])
		unlock(t, h)
	}
}

func TestNodesThatSpeakTLS(t *testing.T) {
	t.Parallel()
	master := redisserver.TLS(t, false)
	url := "redis+replicated://127.0.0.1:1," + master.Addr()
	trusts := &tls.Config{RootCAs: master.Authority.Pool()}
	unlock(t, lock(t, testbed.Open(t, url, rlock.WithTLSConfig(trusts)).NewLock("held")))
	if _, err := rlock.Open(t.Context(), url, rlock.WithCommandTimeout(time.Second)); err == nil || !strings.Contains(err.Error(), "a port with TLS answers like that") {
		t.Errorf("without TLS: %v", err)
	}
}

// TestServersOfAnotherTopology are refused for good, with the URL that they need.
func TestServersOfAnotherTopology(t *testing.T) {
	t.Parallel()
	c := topologytest.Start(t, 1, 1)
	sentinel := redistest.StartSentinel(t, "")
	for addrs, want := range map[string]string{
		c.Servers[0].Addr() + "," + c.Servers[1].Addr(): "is a node of a cluster, whose URL is redis+cluster://",
		sentinel.Addr(): "is a Sentinel, whose URL is redis+sentinel://",
	} {
		if _, err := rlock.Open(t.Context(), "redis+replicated://"+addrs); !errors.Is(err, rlock.ErrInvalidOption) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", addrs, err)
		}
	}
}
