package command_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/internal/topology"
)

// clusterRig is an executor on two real servers that share the slots. The first serves key's
// slot.
type clusterRig struct {
	*testing.T
	c    *topologytest.Cluster
	top  *topologytest.Several
	x    *command.Executor
	key  string
	slot uint16
}

func startCluster(t *testing.T) *clusterRig {
	t.Helper()
	return startShared(t, 1, 1)
}

// startShared is startCluster with these proportions of the slots.
func startShared(t *testing.T, shares ...int) *clusterRig {
	t.Helper()
	return startTimed(t, timeout, shares...)
}

// startTimed is startShared with a timeout of a connection's commands.
func startTimed(t *testing.T, limit time.Duration, shares ...int) *clusterRig {
	t.Helper()
	c := topologytest.Start(t, shares...)
	top := topologytest.New(strings.TrimPrefix(c.URL(), topologytest.Scheme+"://"), topology.Settings{Timeout: limit, Clock: clock.System()})
	t.Cleanup(func() { top.Close(timeout) })
	g := &clusterRig{T: t, c: c, top: top, x: executor(top, clock.System().Now)}
	for i := 0; ; i++ {
		g.key = fmt.Sprintf("{%d}lock", i)
		if g.slot = codec.Slot(g.key); c.Has(0, g.slot) {
			break
		}
	}
	// Now the table is known, so only a slot that the test moves redirects a command.
	g.answered(g.do(kind.Never, "EXISTS", g.key))
	g.answered(g.doAt(16383, kind.Never, "PING"))
	return g
}

func (g *clusterRig) send(r *command.Request, resend kind.Resend) *handler {
	g.Helper()
	h := &handler{x: g.x, events: make(chan string, 10_000)}
	r.Handler, r.Resend, r.Slot = h, resend, g.slot
	if resend != kind.Never {
		r.Until = clock.System().Now() + timeout
	}
	g.x.Enqueue(r)
	g.x.Flush()
	return h
}

func (g *clusterRig) do(resend kind.Resend, name string, args ...any) (*command.Request, *handler) {
	g.Helper()
	r := new(command.Request)
	r.Command(name, args...)
	return r, g.send(r, resend)
}

// doAt is do for a request that names another slot.
func (g *clusterRig) doAt(slot uint16, resend kind.Resend, name string, args ...any) (*command.Request, *handler) {
	g.Helper()
	was := g.slot
	defer func() { g.slot = was }()
	g.slot = slot
	return g.do(resend, name, args...)
}

func (g *clusterRig) script(c luasrc.Call) (*command.Request, *handler) {
	g.Helper()
	r := new(command.Request)
	r.Wire.Command, r.Wire.Args, r.Wire.Script = "EVALSHA", c.Args, c.Script
	return r, g.send(r, kind.Never)
}

// answered waits for the end of a request, which must be an answer.
func (g *clusterRig) answered(r *command.Request, h *handler) *command.Request {
	g.Helper()
	g.ends(h)
	if r.Wire.Err != nil {
		g.Fatalf("it ended with %v", r.Wire.Err)
	}
	return r
}

// ends waits for the end of a request and counts the events before it.
func (g *clusterRig) ends(h *handler) (told int) {
	g.Helper()
	for {
		select {
		case event := <-h.events:
			if strings.HasPrefix(event, "done") || strings.HasPrefix(event, "given up") {
				return told
			}
			told++
		case <-time.After(10 * timeout):
			g.Fatal("it never ended")
		}
	}
}

// ran counts how often a server ran a command.
func (g *clusterRig) ran(server int, name string) int {
	g.Helper()
	return topologytest.Calls(g.T, g.c.Conn(server), name)
}

func (g *clusterRig) lock(owner string) luasrc.Call {
	return luasrc.Lock(nil, g.key, owner, 60_000)
}

func (g *clusterRig) becomes(what string, state func() bool) {
	g.Helper()
	redistest.Becomes(g.T, what, state)
}
