package pipeline

import (
	"context"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// containers are servers that all report the same own address, as two containers may: a unix socket's, each in its
// own folder. A dial leads to one of them.
type containers struct {
	t       testing.TB
	targets map[*redistest.Server]*redisconn.Target
	at      atomic.Pointer[redistest.Server]
}

// inner is the name of each server's socket.
const inner = "inner.sock"

// start starts one more server, which is dialled as place.
func (c *containers) start(place string) *redistest.Server {
	c.t.Helper()
	s := redistest.Start(c.t, "--unixsocket", inner)
	dir, err := redis.Strings(s.Dial(c.t).Do("CONFIG", "GET", "dir"))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.targets == nil {
		c.targets = map[*redistest.Server]*redisconn.Target{}
		c.at.Store(s)
	}
	c.targets[s] = &redisconn.Target{Address: place, Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", dir[1]+"/"+inner)
	}}
	return s
}

func (c *containers) dial(ctx context.Context) (redis.Conn, error) {
	return c.targets[c.at.Load()].Dial(ctx, timeout)
}

// leaves ends p's connection; the next one leads to s.
func (c *containers) leaves(p *Pipeline, s *redistest.Server) {
	c.t.Helper()
	before := end(c.t, ask(p, "CLIENT", "INFO"))
	if text, _ := redis.String(before.Reply, before.Err); field(text, " laddr=", " ") != inner+":0" {
		c.t.Fatalf("the server's own address is not as the test wants it: %s", text)
	}
	former := c.at.Swap(s)
	if _, err := former.Dial(c.t).Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"); err != nil {
		c.t.Fatal(err)
	}
	for end(c.t, ask(p, "PING")).Err != nil {
	}
}

func TestServersOfOneInnerAddressAreTwo(t *testing.T) {
	for name, row := range map[string]struct {
		hidden bool
		places [2]string
	}{
		"behind one address":     {false, [2]string{"service:6379", "service:6379"}},
		"that hide their run id": {true, [2]string{"a:6379", "b:6379"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := containers{t: t}
			former, next := c.start(row.places[0]), c.start(row.places[1])
			for _, s := range []*redistest.Server{former, next} {
				if !row.hidden {
					continue
				}
				if _, err := s.Dial(t).Do("ACL", "SETUSER", "default", "-info"); err != nil {
					t.Fatal(err)
				}
			}
			moves := make(chan struct{}, 10)
			p := open(t, c.dial, Options{Replicas: true, Node: Node{Connected: func(_ string, moved bool) {
				if moved {
					moves <- struct{}{}
				}
			}}})
			end(t, ask(p, "PING"))
			c.leaves(p, former)
			select {
			case <-moves:
				t.Error("the same server counts as another")
			default:
			}
			c.leaves(p, next)
			select {
			case <-moves:
			case <-time.After(10 * timeout):
				t.Error("nobody was told that the server moved")
			}
		})
	}
}

// After a failover the next master has fewer replicas than the former one had: it was one of them.
func TestReplicasOfTheFormerMasterAreNotWaitedForAtTheNext(t *testing.T) {
	t.Parallel()
	c := containers{t: t}
	former := c.start("a:6379")
	next := c.start("b:6379")
	former.StartReplica(t)
	p := open(t, c.dial, keeping(true))
	if r := end(t, waitFor(t, p, 1)); r.Err != nil || r.Replicas != 1 {
		t.Fatalf("%v; %d replicas", r.Err, r.Replicas)
	}
	c.leaves(p, next)
	if r := end(t, waitFor(t, p, 1)); r.Err != nil || r.Replicas != 0 {
		t.Errorf("%v; %d replicas are waited for, and the server has none", r.Err, r.Replicas)
	}
}

// The replicas of a restarted server come back, each some time later. The count deals with one that doesn't.
func TestReplicasOfAServerThatWasRestartedAreWaitedFor(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	p := open(t, dialler(t, s), keeping(true))
	if r := end(t, waitFor(t, p, 1)); r.Err != nil || r.Replicas != 1 {
		t.Fatalf("%v; %d replicas", r.Err, r.Replicas)
	}
	replica.Kill()
	s.Restart()
	for end(t, ask(p, "PING")).Err != nil {
	}
	if r := end(t, waitFor(t, p, 1)); r.Err != nil || r.Replicas != 1 || r.Acked != 0 {
		t.Errorf("%v; %d of %d replicas have it", r.Err, r.Acked, r.Replicas)
	}
}

func TestSiblingsLeadToOneServerOfTwoWithOneInnerAddress(t *testing.T) {
	t.Parallel()
	c := containers{t: t}
	c.start("service:6379")
	next := c.start("service:6379")
	a, b := siblings(t, c.dial, Options{Replicas: true})
	end(t, ask(a, "PING"))
	end(t, ask(b, "PING"))
	c.at.Store(next)
	b.Retire(errApart)
	end(t, ask(b, "PING"))
	redistest.Becomes(t, "the first leads to the other server", func() bool {
		r := end(t, ask(a, "CONFIG", "GET", "port"))
		got, err := redis.StringMap(r.Reply, r.Err)
		return err == nil && got["port"] == strconv.Itoa(next.Port())
	})
}
