package gate

import (
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// Network connects the servers of one set. All methods are safe for concurrent use.
type Network struct {
	t testing.TB

	mu    sync.Mutex // guards the fields below
	gates []*Gate
	alone map[string]bool // the hosts that are cut off, together
	moved chan struct{}   // closed when alone changes
}

// New makes a network without servers. It ends with the test.
func New(t testing.TB) *Network {
	return &Network{t: t, alone: map[string]bool{}, moved: make(chan struct{})}
}

// Gate adds the gate of the next server: server i connects from host i. see, if not nil, gets all exchanges of clients.
func (n *Network) Gate(see func(faultproxy.Exchange)) *Gate {
	n.t.Helper()
	n.mu.Lock()
	host := Host(len(n.gates))
	n.mu.Unlock()
	g := &Gate{network: n, host: host, Clients: faultproxy.Start(n.t, "127.0.0.1:1")}
	if see != nil {
		g.Clients.Observe(see)
	}
	g.data, g.bus = g.listen(false), g.listen(true)
	n.t.Cleanup(g.close)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gates = append(n.gates, g)
	return g
}

// Host is the address that server i connects from.
func Host(i int) string { return "127.0.1." + strconv.Itoa(i+1) }

// Watcher is the address that Sentinel i connects from.
func Watcher(i int) string { return "127.0.2." + strconv.Itoa(i+1) }

// Isolate cuts these hosts off from all others, but not from one another or from clients. No hosts: joins all again.
func (n *Network) Isolate(hosts ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.alone)
	for _, h := range hosts {
		n.alone[h] = true
	}
	close(n.moved)
	n.moved = make(chan struct{})
}

// joined reports whether two hosts reach each other. again is closed when that may have changed.
func (n *Network) joined(a, b string) (yes bool, again <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.alone[a] == n.alone[b], n.moved
}

// Front returns the settings of a node, in a set behind Sentinels, that stands behind this gate.
func (g *Gate) Front() redistest.Front {
	host, port, _ := net.SplitHostPort(g.Addr())
	return redistest.Front{
		Args: []string{"--bind-source-addr", g.host, "--replica-announce-ip", host, "--replica-announce-port", port},
		Addr: g.Addr(), Lead: g.lead,
	}
}

// ClusterFront returns the settings of a cluster server that stands behind this gate.
func (g *Gate) ClusterFront() redistest.Front {
	host, port, _ := net.SplitHostPort(g.Addr())
	_, bus, _ := net.SplitHostPort(g.bus.Addr().String())
	return redistest.Front{
		Args: []string{"--bind-source-addr", g.host, "--cluster-announce-ip", host, "--cluster-announce-port", port, "--cluster-announce-bus-port", bus},
		Addr: g.Addr(), Bus: bus, Lead: g.lead,
	}
}

// WatcherFront makes Sentinel i connect from its own host.
func WatcherFront(i int) redistest.Front {
	return redistest.Front{Args: []string{"--bind-source-addr", Watcher(i), "--sentinel announce-ip", "127.0.0.1"}}
}
