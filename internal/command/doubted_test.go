package command_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/internal/topology"
)

// CLIENT KILL finds nothing, as the connection has ended. That proves something only if the
// server that says so is the process to which the lost command was written, or is the master of
// its slot.
func TestKillBarrierOfAnotherServerCountsIfThatIsTheMaster(t *testing.T) {
	t.Parallel()
	const all, noInfo = "+@all", "-info"
	for name, row := range map[string]struct {
		rules     []any
		meanwhile func(g *clusterRig, redirect func())
		mayArrive bool
	}{
		"the same process": {rules: []any{all}},
		"the same process, whose slot has moved": {
			rules:     []any{all},
			meanwhile: func(g *clusterRig, _ func()) { g.c.Move(0, 1, g.slot) },
		},
		"another server, which is not the slot's master": {
			rules:     []any{all},
			meanwhile: func(_ *clusterRig, redirect func()) { redirect() },
			mayArrive: true,
		},
		"another server, which is the slot's master": {
			rules:     []any{all},
			meanwhile: func(g *clusterRig, redirect func()) { g.c.Move(0, 1, g.slot); redirect() },
		},
		"INFO is refused, and it is the slot's master": {rules: []any{all, noInfo}},
		"INFO is refused, and the slot is on its way, with its key": {
			rules: []any{all, noInfo},
			meanwhile: func(g *clusterRig, _ func()) {
				g.c.Begin(g.slot, 0, 1)
				g.c.MoveKeys(g.slot, 0, 1, 10)
			},
		},
		"INFO is refused, and the slot has moved": {
			rules:     []any{all, noInfo},
			meanwhile: func(g *clusterRig, _ func()) { g.c.Move(0, 1, g.slot) },
		},
		"INFO and EXISTS are refused": {rules: []any{all, noInfo, "-exists"}, mayArrive: true},
		"CLIENT KILL is refused":      {rules: []any{all, "-client|kill"}, mayArrive: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := startDoubted(t, row.rules)
			lost, told := g.do(kind.Never, "BLPOP", g.key, 0)
			g.c.Servers[0].AwaitBlocked(t)
			g.away.Store(true)
			g.killLibrary(0)
			told.want(t, "unanswered")
			if row.meanwhile != nil {
				row.meanwhile(g.clusterRig, func() { g.elsewhere.Store(true) })
			}
			g.away.Store(false)
			g.ends(told)
			if lost.Fate != command.Lost || lost.MayArrive != row.mayArrive {
				t.Errorf("fate %v, may arrive: %v, want %v", lost.Fate, lost.MayArrive, row.mayArrive)
			}
		})
	}
}

// doubtedRig is an executor on a cluster with its own account. Its network can be away, and can
// lead the first server's address to the second.
type doubtedRig struct {
	*clusterRig
	away, elsewhere atomic.Bool
}

var errAway = errors.New("the network is away")

func startDoubted(t *testing.T, rules []any) *doubtedRig {
	t.Helper()
	c := topologytest.Start(t, 1, 1)
	g := &doubtedRig{clusterRig: &clusterRig{T: t, c: c, key: "{b}lock"}}
	if g.slot = codec.Slot(g.key); g.slot >= 8192 {
		t.Fatal("the key is not the first server's")
	}
	for i := range 2 {
		if _, err := c.Conn(i).Do("ACL", append([]any{"SETUSER", "worker", "on", ">secret", "~*", "&*"}, rules...)...); err != nil {
			t.Fatal(err)
		}
	}
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		if g.away.Load() {
			return nil, errAway
		}
		if addr == c.Servers[0].Addr() && g.elsewhere.Load() {
			addr = c.Servers[1].Addr()
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	url := strings.Replace(c.ClusterURL(), "://", "://worker:secret@", 1)
	top, err := topology.Open(url, topology.Settings{Timeout: timeout, Clock: clock.System(), Dialer: dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { top.Close(timeout) })
	g.x = executor(top, clock.System().Now)
	g.answered(g.do(kind.Reads, "TYPE", g.key))
	return g
}

// killLibrary ends the account's connections at a server.
func (g *doubtedRig) killLibrary(server int) {
	g.Helper()
	if _, err := g.c.Conn(server).Do("CLIENT", "KILL", "USER", "worker"); err != nil {
		g.Fatal(err)
	}
}
