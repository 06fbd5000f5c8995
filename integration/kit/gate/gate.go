package gate

import (
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
)

// busOffset is the distance from a server's port to its cluster bus port.
const busOffset = 10000

// Gate stands at the address of one server. All methods are safe for concurrent use.
type Gate struct {
	Clients *faultproxy.Proxy // the proxy that clients pass

	network   *Network
	host      string // the address its server connects from
	data, bus net.Listener
	pumps     sync.WaitGroup

	mu     sync.Mutex // guards what follows
	server string     // the server's real address
	closed bool
	shut   bool // clients are refused
	open   map[net.Conn]bool
}

// Addr is the address that the server announces.
func (g *Gate) Addr() string { return g.data.Addr().String() }

// Host is the address that the server connects from.
func (g *Gate) Host() string { return g.host }

// Refuse closes new connections of clients, or accepts them again. Existing ones stay open.
func (g *Gate) Refuse(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = on
}

func (g *Gate) lead(addr string) {
	g.Clients.Move(addr)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.server = addr
}

func (g *Gate) listen(bus bool) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		g.network.t.Fatalf("gate: %v", err)
	}
	g.pumps.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			g.pumps.Go(func() { g.accept(c.(*net.TCPConn), bus) })
		}
	})
	return l
}

func (g *Gate) accept(c *net.TCPConn, bus bool) {
	from := c.RemoteAddr().(*net.TCPAddr).IP
	g.mu.Lock()
	server, shut := g.server, g.shut || g.closed
	g.mu.Unlock()
	switch {
	case server == "":
		c.Close()
	case from.String() != "127.0.0.1":
		g.pass(c, from.String(), bus)
	case shut:
		c.Close()
	default:
		g.Clients.Serve(c)
	}
}

// pass connects two servers.
func (g *Gate) pass(c net.Conn, from string, bus bool) {
	defer c.Close()
	if !g.keep(c) {
		return
	}
	defer g.drop(c)
	if !g.flowing(from) {
		return
	}
	to := g.target(bus)
	server, err := net.DialTimeout("tcp", to, 5*time.Second)
	if err != nil {
		return
	}
	defer server.Close()
	if !g.keep(server) {
		return
	}
	defer g.drop(server)
	var back sync.WaitGroup
	back.Go(func() {
		g.pump(c, server, from)
		c.Close()
	})
	g.pump(server, c, from)
	server.Close()
	back.Wait()
}

func (g *Gate) target(bus bool) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !bus {
		return g.server
	}
	host, port, _ := net.SplitHostPort(g.server)
	n, _ := strconv.Atoi(port)
	return net.JoinHostPort(host, strconv.Itoa(n+busOffset))
}

func (g *Gate) pump(to, from net.Conn, host string) {
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if err != nil || !g.flowing(host) {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// flowing blocks while the host is cut off from the gate's server. It reports false once the gate is closed.
func (g *Gate) flowing(host string) bool {
	for {
		yes, again := g.network.joined(host, g.host)
		g.mu.Lock()
		closed := g.closed
		g.mu.Unlock()
		if closed || yes {
			return !closed
		}
		<-again
	}
}

func (g *Gate) keep(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	if g.open == nil {
		g.open = map[net.Conn]bool{}
	}
	g.open[c] = true
	return true
}

func (g *Gate) drop(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, c)
}

func (g *Gate) close() {
	g.mu.Lock()
	g.closed = true
	for c := range g.open {
		c.Close()
	}
	g.mu.Unlock()
	g.data.Close()
	g.bus.Close()
	g.network.Isolate() // wakes the goroutines that wait in flowing
	g.pumps.Wait()
}
