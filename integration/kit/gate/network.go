package gate

import (
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/internal/redistest"
)

// Network is what connects the servers of one set. All methods are safe for concurrent use.
type Network struct {
	t testing.TB

	mu    sync.Mutex // guards what follows
	gates []*Gate
	alone map[string]bool // the hosts that are cut off, together
	moved chan struct{}   // closed when alone changes
}

// New makes a network without servers. It ends with the test.
func New(t testing.TB) *Network {
	return &Network{t: t, alone: map[string]bool{}, moved: make(chan struct{})}
}

// Gate adds a gate. Server i connects from host i.
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

// Host is where server i connects from.
func Host(i int) string { return "127.0.1." + strconv.Itoa(i+1) }

// Watcher is where Sentinel i connects from.
func Watcher(i int) string { return "127.0.2." + strconv.Itoa(i+1) }

// Isolate cuts these hosts off from all others, but not from one another and not from clients. None: all is well again.
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

// joined tells whether two hosts reach each other, or else when to look again.
func (n *Network) joined(a, b string) (yes bool, again <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.alone[a] == n.alone[b], n.moved
}

// Front is a gate for a node of a set behind Sentinels.
func (g *Gate) Front() redistest.Front {
	host, port, _ := net.SplitHostPort(g.Addr())
	return redistest.Front{
		Args: []string{"--bind-source-addr", g.host, "--replica-announce-ip", host, "--replica-announce-port", port},
		Addr: g.Addr(), Lead: g.lead,
	}
}

// ClusterFront is a gate for a server of a cluster.
func (g *Gate) ClusterFront() redistest.Front {
	host, port, _ := net.SplitHostPort(g.Addr())
	_, bus, _ := net.SplitHostPort(g.bus.Addr().String())
	return redistest.Front{
		Args: []string{"--bind-source-addr", g.host, "--cluster-announce-ip", host, "--cluster-announce-port", port, "--cluster-announce-bus-port", bus},
		Addr: g.Addr(), Bus: bus, Lead: g.lead,
	}
}

// WatcherFront has Sentinel i connect from its own host.
func WatcherFront(i int) redistest.Front {
	return redistest.Front{Args: []string{"--bind-source-addr", Watcher(i), "--sentinel announce-ip", "127.0.0.1"}}
}
