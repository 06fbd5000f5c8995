package testbed

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// Simulate runs a test in a bubble, where time is virtual, with a rig whose server is a model of Redis in the bubble's
// network. The test must use the t of its rig.
func Simulate(t *testing.T, test func(p *Proxied, s *SimulatedServer)) {
	t.Helper()
	SimulateBy(t, func(w *simnet.World) (string, *simredis.Server) {
		s := simredis.New(w, "10.0.0.1:6379")
		return "redis://" + s.Addr, s
	}, test)
}

// SimulateBy is Simulate with the server that start makes, and with the URL by which clients find it.
func SimulateBy(t *testing.T, start func(w *simnet.World) (url string, s *simredis.Server), test func(p *Proxied, s *SimulatedServer)) {
	t.Helper()
	simulate(t, func(r *Rig, w *simnet.World) {
		s := &SimulatedServer{w: w}
		w.Mu.Lock()
		s.url, s.model = start(w)
		w.Mu.Unlock()
		r.Server, r.Conn = s, r.Connect(s.Addr())
		r.Cleanup(func() { r.Conn.Close() })
		test(&Proxied{r, faultproxy.Simulate(r.T, w, s.Addr())}, s)
	})
}

// SimulateCluster is Simulate with masters that share the slots evenly. The rig has no server of its own.
func SimulateCluster(t *testing.T, masters int, test func(r *Rig, c *SimulatedCluster)) {
	t.Helper()
	simulate(t, func(r *Rig, w *simnet.World) {
		w.Mu.Lock()
		c := &SimulatedCluster{model: simredis.NewCluster(w, masters, 0)}
		w.Mu.Unlock()
		for _, s := range c.model.Servers {
			c.Servers = append(c.Servers, &SimulatedServer{w, "redis://" + s.Addr, s, 0})
			conn := r.Connect(s.Addr)
			r.Cleanup(func() { conn.Close() })
			c.Conns = append(c.Conns, conn)
		}
		test(r, c)
	})
}

func simulate(t *testing.T, test func(r *Rig, w *simnet.World)) {
	synctest.Test(t, func(t *testing.T) {
		seed := rand.Uint64()
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("the simulated network's seed was %d", seed)
			}
		})
		w := simnet.New(seed)
		w.Native = seed%2 == 0
		test(&Rig{T: t, Dial: w.Dialer("10.1.0.1")}, w)
	})
}

// SimulatedCluster has servers that share the slots.
type SimulatedCluster struct {
	Servers []*SimulatedServer
	Conns   []redis.Conn // to each
	model   *simredis.Cluster
}

// URL is for clients that dial in the network.
func (c *SimulatedCluster) URL() string { return c.model.URL() }

// Name returns the nth name of a lock that a server has.
func (c *SimulatedCluster) Name(server, n int) string {
	for i := 0; ; i++ {
		if name := fmt.Sprint("orders-", i); int(codec.Slot(name))*len(c.Servers)/16384 == server {
			if n--; n < 0 {
				return name
			}
		}
	}
}

// Connect dials an address as the rig's clients do, with patience. The caller closes the connection.
func (r *Rig) Connect(addr string, options ...redis.DialOption) redis.Conn {
	r.Helper()
	all := []redis.DialOption{redis.DialConnectTimeout(Patience), redis.DialReadTimeout(Patience), redis.DialWriteTimeout(Patience)}
	if r.Dial != nil {
		all = append(all, redis.DialContextFunc(r.Dial))
	}
	conn, err := redis.DialContext(r.Context(), "tcp", addr, append(all, options...)...)
	if err != nil {
		r.Fatal(err)
	}
	return conn
}

// SimulatedServer is a model of Redis in a simulated network. All methods are safe for concurrent use.
type SimulatedServer struct {
	w     *simnet.World
	url   string
	model *simredis.Server

	replicas int // so far
}

// URL is for clients that dial in the network.
func (s *SimulatedServer) URL() string { return s.url }

// Addr is its address in the network.
func (s *SimulatedServer) Addr() string { return s.model.Addr }

// Pause stops the server: connections stay open, and nothing is answered.
func (s *SimulatedServer) Pause() { s.do(func() { s.model.Paused = true }) }

// Change changes the model.
func (s *SimulatedServer) Change(f func(m *simredis.Server)) { s.do(func() { f(s.model) }) }

// Demote makes the server a replica of one that is not there.
func (s *SimulatedServer) Demote() {
	s.replicas++
	s.do(func() {
		gone := simredis.New(s.w, fmt.Sprintf("10.0.0.%d:6379", 1+s.replicas))
		gone.Kill(false)
		s.model.SlaveOf(gone)
	})
}

// Lag makes a replica late by d.
func (s *SimulatedServer) Lag(d time.Duration) { s.do(func() { s.model.Lag(d) }) }

// Resume ends a pause: what has come meanwhile runs.
func (s *SimulatedServer) Resume() { s.do(s.model.Resume) }

// Ran has f called with each command that a client sends from now on.
func (s *SimulatedServer) Ran(f func(args []string)) {
	s.do(func() { s.model.Ran = func(_ *simredis.Server, _ string, args []string, _ any) { f(args) } })
}

// Kill ends the server's process.
func (s *SimulatedServer) Kill() { s.do(func() { s.model.Kill(false) }) }

// Restart starts it again, with its data.
func (s *SimulatedServer) Restart() { s.do(func() { s.model.Start(true) }) }

// Wipe restarts the server without its data.
func (s *SimulatedServer) Wipe() {
	s.do(func() { s.model.Kill(false) })
	time.Sleep(time.Millisecond)
	s.do(func() { s.model.Start(false) })
}

// Replica adds a replica, and waits until it has everything.
func (s *SimulatedServer) Replica() *SimulatedServer {
	s.replicas++
	r := &SimulatedServer{w: s.w}
	s.do(func() {
		r.model = simredis.New(s.w, fmt.Sprintf("10.0.0.%d:6379", 1+s.replicas))
		r.url = "redis://" + r.model.Addr
		r.model.SlaveOf(s.model)
	})
	time.Sleep(2 * time.Second)
	return r
}

func (s *SimulatedServer) do(f func()) {
	s.w.Mu.Lock()
	defer s.w.Mu.Unlock()
	f()
}
