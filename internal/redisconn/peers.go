package redisconn

import (
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// peers are the open connections of a target.
type peers struct {
	mu  sync.Mutex // guards set
	set map[*Conn]struct{}
}

func (p *peers) add(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.set == nil {
		p.set = map[*Conn]struct{}{}
	}
	p.set[c] = struct{}{}
}

func (p *peers) remove(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.set, c)
}

// Sever ends every connection of t that is open or being greeted, at once,
// whatever is under way on it: reads end with cause. A Dial that has not
// connected yet is not among them.
func (t *Target) Sever(cause error) {
	t.open.mu.Lock()
	conns := slices.Collect(maps.Keys(t.open.set))
	t.open.mu.Unlock()
	for _, c := range conns {
		c.guard.severed.CompareAndSwap(nil, &cause)
		c.Interrupt()
	}
}

// strangers counts the connections whose peer is not among addresses.
func (p *peers) strangers(addresses []netip.Addr) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for c := range p.set {
		if peer, ok := c.peer(); ok && !contains(addresses, peer) {
			n++
		}
	}
	return n
}

func contains(addresses []netip.Addr, peer netip.Addr) bool {
	return slices.ContainsFunc(addresses, func(a netip.Addr) bool { return a.Unmap().WithZone("") == peer })
}

// peer is the address that c is connected to.
func (c *Conn) peer() (netip.Addr, bool) {
	tcp, ok := c.net.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}, false
	}
	a := tcp.AddrPort().Addr().Unmap().WithZone("")
	return a, a.IsValid()
}
