package redisconn

import (
	"context"
	"net"
	"net/netip"
	"slices"
)

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

// Named tells whether t has a host name: only a name can come to mean another
// server while a connection lasts. What it means to a Dialer is not known here.
func (t *Target) Named() bool {
	host, _, malformed := net.SplitHostPort(t.Address)
	_, named := netip.ParseAddr(host)
	return t.Dialer == nil && malformed == nil && named != nil
}

// Strays asks the resolver what the host's addresses are, and tells whether an
// open connection of t leads to none of them. An error is the resolver's and
// says nothing about the connections.
func (t *Target) Strays(ctx context.Context) (bool, error) {
	host, _, err := net.SplitHostPort(t.Address)
	if err != nil {
		return false, err
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return false, err
	}
	return t.open.strangers(addresses) > 0, nil
}
