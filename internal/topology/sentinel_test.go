package topology_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/pubsub"
)

var _ pubsub.Waker = (*heard)(nil)

// The former master of a planned failover stays up for ten seconds. It still calls itself the master and keeps its
// connections.
func TestConnectionsToTheFormerMasterEndAtTheFirstWordOfIt(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{Nodes: "sesame", Sentinels: "mellon"})
	url := "redis+sentinel://:sesame@" + set.Addrs() + "/" + redistest.MasterName
	top := openSet(t, url, func(s *topology.Settings) {
		s.ConnectionName = "follows"
		s.SentinelCredentials = func(context.Context) (string, string, error) { return "", "mellon", nil }
	})
	former := set.Master()
	if got := port(t, top); got != former.Port() {
		t.Fatalf("it is at %d, and the master at %d", got, former.Port())
	}
	h := &heard{}
	defer top.Subscriptions(0)[0].Subscribe("c", h).Close()
	becomes(t, "listening", func() bool { n, _ := h.state(); return n == 1 })
	if n := connections(t, former, "follows"); n != 2 {
		t.Errorf("%d connections to the master", n)
	}
	for _, s := range set.Sentinels {
		becomes(t, "listening to each Sentinel", func() bool { return connections(t, s, "follows") >= 1 })
	}
	for len(top.Changes()) > 0 {
		<-top.Changes()
	}
	set.Failover(set.Sentinels[0])
	becomes(t, "no connection to the former master", func() bool { return connections(t, former, "follows") == 0 })
	if role, err := redis.Values(former.Dial(t).Do("ROLE")); err != nil || string(role[0].([]byte)) != "master" {
		t.Errorf("the former master was left after it had become a replica: %s, %v", role[0], err)
	}
	if c := <-top.Changes(); len(c) != 1 || !c[0].NewMaster || !c[0].Slots.All() {
		t.Errorf("told %+v", c)
	}
	becomes(t, "listening again", func() bool { n, _ := h.state(); return n >= 2 })
	next := set.AwaitMaster(former)
	becomes(t, "at the master", func() bool { return port(t, top) == next.Port() })
	conn := next.Dial(t)
	becomes(t, "a message from the new master", func() bool {
		// Its connection may be replaced once more, after that of the commands.
		if _, err := conn.Do("PUBLISH", "c", "woken"); err != nil {
			t.Fatal(err)
		}
		_, got := h.state()
		return strings.HasPrefix(got, "woken")
	})
	top.Close(timeout)
	for _, s := range append(set.Sentinels, set.Nodes...) {
		becomes(t, "no connection left", func() bool { return connections(t, s, "follows") == 0 })
	}
}

// Between the promotion and its announcement the master has lost one of its replicas. A client that counted them now
// would be satisfied with the other one's acknowledgement.
func TestMasterThatIsBeingReplacedIsNotConnectedTo(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	before := openSet(t, set.URL(), nil)
	former := set.Master()
	if got := port(t, before); got != former.Port() {
		t.Fatalf("it is at %d, and the master at %d", got, former.Port())
	}
	var replicas []*redistest.Server
	for _, n := range set.Nodes {
		if n != former {
			replicas = append(replicas, n)
		}
	}
	sentinel := set.Sentinels[0].Dial(t)
	replacing := func() bool {
		m, err := redis.StringMap(sentinel.Do("SENTINEL", "MASTER", redistest.MasterName))
		return err == nil && strings.Contains(m["flags"], "failover_in_progress")
	}
	var after *topology.Sentinel
	for tries := 1; ; tries++ {
		if !replacing() {
			for _, n := range replicas {
				n.Pause() // so that none can be promoted
			}
			set.Failover(set.Sentinels[0])
		}
		after = openSet(t, set.URL(), nil)
		_, err := send(t, after, "PING")
		if err != nil && strings.Contains(err.Error(), "is replacing the master") {
			break
		}
		if tries == 10 {
			t.Fatalf("a new client got %v", err)
		}
		if !replacing() { // the failover ended before the client came; otherwise this Sentinel was slow to answer
			for _, n := range replicas {
				n.Resume()
			}
		}
	}
	if got := port(t, before); got != former.Port() {
		t.Errorf("the client from before is at %d", got)
	}
	for _, n := range replicas {
		n.Resume()
	}
	becomes(t, "both are at the master that all agree on", func() bool {
		m := set.Master()
		return m != nil && port(t, after) == m.Port() && port(t, before) == m.Port()
	})
}

func TestMasterThatDiedIsReplaced(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	top := openSet(t, set.URL(), nil)
	former := set.Master()
	if got := port(t, top); got != former.Port() {
		t.Fatalf("it is at %d, and the master at %d", got, former.Port())
	}
	set.AllowFailover()
	former.Kill()
	at := 0
	becomes(t, "at another server", func() bool { at = port(t, top); return at != 0 && at != former.Port() })
	if next := set.AwaitMaster(former); at != next.Port() {
		t.Errorf("it was at %d, and the master at %d", at, next.Port())
	}
}

// Two of three Sentinels are down, and then all. The connection stays as it is, and the next one is made as soon as a
// Sentinel answers.
func TestSentinelsThatAreDownEndNoConnection(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	// The URL has one Sentinel, from which the client learns of the others.
	top := openSet(t, "redis+sentinel://"+set.Sentinels[0].Addr()+"/"+redistest.MasterName, func(s *topology.Settings) {
		s.ConnectionName = "follows"
	})
	master := set.Master()
	if port(t, top) != master.Port() {
		t.Fatal("it is not at the master")
	}
	for _, s := range set.Sentinels {
		becomes(t, "listening to each Sentinel", func() bool { return connections(t, s, "follows") >= 1 })
	}
	killed := func() error {
		_, err := master.Dial(t).Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		return err
	}
	set.Sentinels[0].Kill()
	set.Sentinels[1].Pause()
	if err := killed(); err != nil {
		t.Fatal(err)
	}
	becomes(t, "at the master by the word of one", func() bool { return port(t, top) == master.Port() })
	set.Sentinels[2].Kill()
	if port(t, top) != master.Port() {
		t.Error("the connection ended with the Sentinels")
	}
	if err := killed(); err != nil {
		t.Fatal(err)
	}
	becomes(t, "an error that names a Sentinel", func() bool {
		_, err := send(t, top, "PING")
		var unsent *pipeline.NotSentError
		return errors.As(err, &unsent) && strings.Contains(err.Error(), set.Sentinels[0].Addr())
	})
	set.Sentinels[1].Resume()
	becomes(t, "at the master again", func() bool { return port(t, top) == master.Port() })
}

// No message announces a master that is set up by hand. A client that could not listen for a while asks as soon as it
// listens again.
func TestSentinelsAreAskedWhenTheyAreListenedToAgain(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	h := &hatch{open: map[net.Conn]string{}}
	top := openSet(t, set.URL(), func(s *topology.Settings) { s.ConnectionName, s.Dialer = "follows", h.dial })
	top.OnlyLookWhenTold()
	former, next := set.Nodes[0], set.Nodes[1]
	if got := port(t, top); got != former.Port() {
		t.Fatalf("it is at %d, and the master at %d", got, former.Port())
	}
	for _, s := range set.Sentinels {
		conn := s.Dial(t)
		becomes(t, "listening to each Sentinel", func() bool {
			list, err := redis.String(conn.Do("CLIENT", "LIST", "TYPE", "pubsub"))
			return err == nil && strings.Contains(list, " name=follows ")
		})
	}
	// What the client asked before may be answered at any time.
	h.set(strings.Split(set.Addrs(), ",")...)
	if _, err := next.Dial(t).Do("REPLICAOF", "NO", "ONE"); err != nil {
		t.Fatal(err)
	}
	for _, s := range set.Sentinels {
		conn := s.Dial(t)
		if _, err := conn.Do("SENTINEL", "REMOVE", redistest.MasterName); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Do("SENTINEL", "MONITOR", redistest.MasterName, "127.0.0.1", next.Port(), 2); err != nil {
			t.Fatal(err)
		}
	}
	if n := connections(t, former, "follows"); n != 1 {
		t.Fatalf("%d connections to the former master", n)
	}
	h.set()
	becomes(t, "no connection to the former master", func() bool { return connections(t, former, "follows") == 0 })
	becomes(t, "at the master", func() bool { return port(t, top) == next.Port() })
}

// The host of the former master is lost: nothing refuses the connection, which is tried until a Sentinel announces the
// next master.
func TestConnectionToTheFormerMasterIsTriedNoLonger(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	former, tried := set.Master(), make(chan struct{}, 8)
	top := openSet(t, set.URL(), func(s *topology.Settings) {
		s.Timeout = 2 * farOff
		s.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr == former.Addr() {
				tried <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
	})
	done := make(chan struct{})
	r := &pipeline.Request{Command: "PING", Done: pipeline.CompletionFunc(func(*pipeline.Request) { close(done) })}
	pipe := top.Nodes()[0].Pipe
	if !pipe.Enqueue(r, 0) {
		t.Fatal(r.Err)
	}
	pipe.Flush()
	<-tried
	set.Failover(set.Sentinels[0])
	next := set.AwaitMaster(former)
	becomes(t, "it is tried no longer", func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
	if got := port(t, top); r.Err != nil || got != next.Port() {
		t.Errorf("%v; it is at %d, and the master at %d", r.Err, got, next.Port())
	}
}

func TestSentinelsThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{Sentinels: "mellon"})
	wrong := func(context.Context) (string, string, error) { return "", "wrong", nil }
	right := func(context.Context) (string, string, error) { return "", "mellon", nil }
	for name, row := range map[string]struct {
		master      string
		credentials func(context.Context) (string, string, error)
		says        string
		permanent   bool
	}{
		"no password":      {redistest.MasterName, nil, "NOAUTH", true},
		"a wrong password": {redistest.MasterName, wrong, "WRONGPASS", false},
		"a wrong name":     {"nobody", right, "knows no master of that name; SENTINEL MASTERS lists those that it knows", true},
	} {
		t.Run(name, func(t *testing.T) {
			top := openSet(t, "redis+sentinel://"+set.Addrs()+"/"+row.master, func(s *topology.Settings) {
				s.SentinelCredentials = row.credentials
				s.Timeout = farOff
				if !row.permanent {
					s.Timeout = time.Second
				}
			})
			_, err := send(t, top, "PING") // if it were retried until farOff, it would not end here
			if err == nil || !strings.Contains(err.Error(), row.says) || !strings.Contains(err.Error(), set.Sentinels[2].Addr()) {
				t.Errorf("got %v", err)
			}
			if err != nil && (strings.Contains(err.Error(), "mellon") || strings.Contains(err.Error(), "wrong,")) {
				t.Errorf("it tells a secret: %v", err)
			}
		})
	}
}
