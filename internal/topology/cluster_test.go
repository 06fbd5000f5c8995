package topology_test

import (
	"context"
	"fmt"
	"net"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/internal/topology"
)

// clusterRig is a topology of a real cluster of three masters, with an executor.
type clusterRig struct {
	*testing.T
	c   *topologytest.Cluster
	top topology.Topology
	x   *command.Executor
	mu  sync.Mutex
	all []topology.Change
}

func openCluster(t *testing.T, c *topologytest.Cluster, edit func(*topology.Settings)) *clusterRig {
	t.Helper()
	s := topology.Settings{Timeout: timeout, Clock: clock.System(), ConnectionName: "rlock"}
	if edit != nil {
		edit(&s)
	}
	top, err := topology.Open(c.ClusterURL(), s)
	if err != nil {
		t.Fatal(err)
	}
	g := &clusterRig{T: t, c: c, top: top}
	g.x = command.New(top, command.Options{Go: func(fn func()) { go fn() },
		Timeout: timeout, Now: clock.System().Now, Closing: func() bool { return false },
		After: func(d time.Duration, fn func()) { time.AfterFunc(d, fn) },
	})
	var following sync.WaitGroup
	following.Go(func() {
		for changes := range top.Changes() {
			g.mu.Lock()
			g.all = append(g.all, changes...)
			g.mu.Unlock()
		}
	})
	t.Cleanup(func() {
		top.Close(timeout)
		following.Wait()
	})
	return g
}

// keyOn returns a key of one of three masters.
func keyOn(master int) string {
	for i := 0; ; i++ {
		if key := fmt.Sprint("key-", i); min(int(codec.Slot(key))/5461, 2) == master {
			return key
		}
	}
}

// send sends a command and waits for its end.
func (g *clusterRig) send(key, name string, args ...any) *command.Request {
	g.Helper()
	ctx, cancel := context.WithTimeout(g.Context(), 10*timeout)
	defer cancel()
	r := &command.Request{Slot: codec.Slot(key), Left: ctx.Done()}
	r.Wire.Command, r.Wire.Args = name, append([]any{key}, args...)
	if g.x.Do(r) == command.Open {
		g.Fatal("it never ended")
	}
	return r
}

// answered sends a command until it has run. On a busy machine it takes the client more than a command timeout to find its way.
func (g *clusterRig) answered(key, name string, args ...any) any {
	g.Helper()
	var r *command.Request
	g.becomes(fmt.Sprint(name, " ", key, " runs"), func() bool {
		r = g.send(key, name, args...)
		return r.Fate != command.NotSent
	})
	if r.Wire.Err != nil {
		g.Fatalf("%s %s: %v", name, key, r.Wire.Err)
	}
	return r.Wire.Reply
}

func (g *clusterRig) becomes(what string, state func() bool) {
	g.Helper()
	redistest.Becomes(g.T, what, state)
}

// told reports whether a change was announced that moved the slot to that server.
func (g *clusterRig) told(slot uint16, to int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.all {
		if c.Slots.Has(slot) && c.To.String() == g.c.Servers[to].Addr() {
			return true
		}
	}
	return false
}

func (g *clusterRig) at(key string) string {
	n, err := g.top.Node(codec.Slot(key))
	if err != nil {
		return err.Error()
	}
	return n.String()
}

// ours counts the client's connections to a server.
func (g *clusterRig) ours(server int) int {
	g.Helper()
	list, err := redis.String(g.c.Conn(server).Do("CLIENT", "LIST"))
	if err != nil {
		g.Fatal(err)
	}
	return strings.Count(list, " name=rlock ")
}

func TestCommandsGoToTheMasterOfTheirSlot(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	g := openCluster(t, c, nil)
	for i := range 300 {
		g.answered(fmt.Sprint("key-", i), "SET", i)
	}
	for i := range 3 {
		if n := topologytest.Rejected(t, c.Conn(i), "set"); n > 0 {
			t.Errorf("server %d answered MOVED %d times, though nothing moved", i, n)
		}
		if n := topologytest.Calls(t, c.Conn(i), "set"); n < 50 {
			t.Errorf("server %d ran %d", i, n)
		}
		g.becomes("one connection to each master", func() bool { return g.ours(i) == 1 })
		if n := g.ours(c.Replica(i)); n != 0 {
			t.Errorf("%d connections to a replica", n)
		}
	}
}

func TestNoConnectionToAMasterThatIsNotUsed(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	g := openCluster(t, c, nil)
	g.answered(keyOn(1), "SET", 1)
	g.becomes("one master has one connection", func() bool { return g.ours(0) == 0 && g.ours(1) == 1 && g.ours(2) == 0 })
}

// Unused connections are closed. The next use makes new ones.
func TestConnectionsOfAClusterThatNobodyUsesAreGivenUp(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	g := openCluster(t, c, nil)
	g.answered(keyOn(0), "SET", 1)
	g.answered(keyOn(1), "SET", 1)
	l := make(listener, 10)
	leave := l.listen(t, g.top, codec.Slot(keyOn(1)), codec.Channel(keyOn(1)))
	for range topology.IdleLooks + 1 {
		topology.Tend(g.top)
	}
	g.becomes("the one that nobody uses has none", func() bool { return g.ours(0) == 0 && g.ours(1) == 2 })
	g.answered(keyOn(0), "SET", 2)
	leave()
	g.becomes("nobody is subscribed", func() bool {
		n, err := g.top.Node(codec.Slot(keyOn(1)))
		return err == nil && n.Hub.Channels() == 0
	})
	for range topology.IdleLooks + 1 {
		g.answered(keyOn(0), "SET", 3)
		topology.Tend(g.top)
	}
	g.becomes("the one that is used has one", func() bool { return g.ours(0) == 1 && g.ours(1) == 0 })
	if got := g.answered(keyOn(1), "GET"); string(got.([]byte)) != "1" {
		t.Errorf("it answers %s", got)
	}
}

// A failover after the last use may undo what was released last.
func TestClusterIsLookedAtOnceMoreAfterItsLastUse(t *testing.T) {
	t.Parallel()
	c := topologytest.Start(t, 1)
	g := openCluster(t, c, nil)
	for i, want := range []bool{false, true, true, false, false, true} {
		if i == 1 || i == 5 {
			g.answered("key", "SET", 1)
		}
		if got := topology.Tend(g.top); got != want {
			t.Errorf("%d: it looks: %v, want %v", i, got, want)
		}
	}
}

func TestClusterFollowsASlotThatMoves(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	g := openCluster(t, c, nil)
	key := keyOn(0)
	slot := codec.Slot(key)
	g.answered(key, "SET", "1")
	c.Begin(slot, 0, 1)
	c.MoveKeys(slot, 0, 1, 10)
	for range 3 {
		if got := g.answered(key, "GET"); string(got.([]byte)) != "1" {
			t.Errorf("half-way it is %s", got)
		}
	}
	if n := topologytest.Calls(t, c.Conn(1), "asking"); n != 3 {
		t.Errorf("%d ASKING for three commands", n)
	}
	c.End(slot, 0, 1)
	g.answered(key, "GET")
	if at := g.at(key); at != c.Servers[1].Addr() {
		t.Errorf("its node is %s", at)
	}
	g.becomes("the change is told", func() bool { return g.told(slot, 1) })
	before := topologytest.Errors(t, c.Conn(0), "MOVED")
	for range 100 {
		g.answered(key, "GET")
	}
	if n := topologytest.Errors(t, c.Conn(0), "MOVED") - before; n > 1 {
		t.Errorf("%d commands were sent to its old master", n)
	}
}

// No command is redirected, as the dead master does not answer.
func TestClusterFollowsAFailover(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	g := openCluster(t, c, nil)
	key := keyOn(0)
	g.answered(key, "SET", "1")
	g.becomes("the replica has it", func() bool { return topologytest.Calls(t, c.Conn(c.Replica(0)), "set") == 1 })
	c.Servers[0].Kill()
	began := time.Now()
	g.becomes("it is answered again", func() bool {
		r := g.send(key, "GET")
		if r.Wire.Err != nil {
			return false
		}
		// A replica that was copying all data when its master died has nothing.
		if has, err := c.Conn(c.Replica(0)).Do("GET", key); err != nil || !reflect.DeepEqual(r.Wire.Reply, has) {
			g.Errorf("the answer is %q, the next master has %q, %v", r.Wire.Reply, has, err)
		}
		return true
	})
	t.Logf("answered again after %v", time.Since(began).Round(time.Millisecond))
	if at := g.at(key); at != c.Servers[c.Replica(0)].Addr() {
		t.Errorf("its node is %s", at)
	}
	g.becomes("the change is told", func() bool { return g.told(codec.Slot(key), c.Replica(0)) })
	g.becomes("the dead one has left", func() bool { return len(g.top.Nodes()) == 3 })
}

func TestClusterFollowsAPlannedFailover(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	g := openCluster(t, c, nil)
	key := keyOn(0)
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			r := &command.Request{Slot: codec.Slot(key)}
			r.Wire.Command, r.Wire.Args = "SET", []any{key, i}
			if g.x.Do(r); r.Wire.Err != nil {
				ended <- r.Wire.Err
				return
			}
		}
	}()
	c.Failover(c.Replica(0))
	g.becomes("the new master is known", func() bool { return g.at(key) == c.Servers[c.Replica(0)].Addr() })
	close(stop)
	if err := <-ended; err != nil {
		t.Errorf("a command ended with %v", err)
	}
}

// A server that hangs is asked for the map last, and delays no other.
func TestClusterIsKnownWhileAServerStandsStill(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	c.Servers[0].Pause() // the first of the URL
	defer c.Servers[0].Resume()
	g := openCluster(t, c, func(s *topology.Settings) { s.Timeout = time.Hour }) // nothing here may wait for it
	g.answered(keyOn(1), "SET", 1)
}

// The host of a master is lost: nothing refuses the next connection. The failover comes while it is tried.
func TestClusterIsLookedAtWhileAConnectionIsTried(t *testing.T) {
	t.Parallel()
	c := topologytest.Start(t, 1, 1, 1)
	lost, tried := c.Servers[0].Addr(), make(chan struct{}, 1)
	g := openCluster(t, c, func(s *topology.Settings) {
		s.Timeout = farOff
		s.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr == lost {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
	})
	g.answered(keyOn(1), "GET")
	n, err := g.top.Node(codec.Slot(keyOn(0)))
	if err != nil {
		t.Fatal(err)
	}
	r := &pipeline.Request{Command: "PING", Done: pipeline.CompletionFunc(func(*pipeline.Request) { close(tried) })}
	if !n.Pipe.Enqueue(r, 0) {
		t.Fatal(r.Err)
	}
	n.Pipe.Flush()
	looks, looked := 0, topology.Looked(g.top)
	g.becomes("several looks", func() bool { // without a reason it looks every ten seconds
		select {
		case <-looked:
			looks, looked = looks+1, topology.Looked(g.top)
		default:
		}
		return looks == 5
	})
	select {
	case <-tried:
		t.Errorf("the connection was tried no longer: %v", r.Err)
	default:
	}
}
