package redisconn

import (
	"context"
	"net"
	"net/netip"
	"slices"
)

// Named tells whether t has a host name: only a name can come to mean another server while a
// connection lasts. It is false with a Dialer, which may resolve names differently.
func (t *Target) Named() bool {
	host, _, malformed := net.SplitHostPort(t.Address)
	_, named := netip.ParseAddr(host)
	return t.Dialer == nil && t.network() == "tcp" && malformed == nil && named != nil
}

// Strays asks the resolver for the host's addresses, and tells whether an open connection of
// t, which is Named, leads to none of them. It blocks until the resolver answers or ctx
// ends. An error is the resolver's and says nothing about the connections.
func (t *Target) Strays(ctx context.Context) (bool, error) {
	host, _, _ := net.SplitHostPort(t.Address)
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return false, err
	}
	for c := range t.open.Range {
		tcp, ok := c.(*Conn).net.RemoteAddr().(*net.TCPAddr)
		if ok && !contains(addresses, tcp.AddrPort().Addr()) {
			return true, nil
		}
	}
	return false, nil
}

func contains(addresses []netip.Addr, peer netip.Addr) bool {
	plain := func(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }
	return slices.ContainsFunc(addresses, func(a netip.Addr) bool { return plain(a) == plain(peer) })
}
