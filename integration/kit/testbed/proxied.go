package testbed

import (
	"testing"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
)

// Proxied is a rig with a proxy for its clients. The rig's own connection bypasses the proxy.
type Proxied struct {
	*Rig
	Proxy *faultproxy.Proxy // clients connect here
}

// NewProxied puts a proxy in front of a server.
func NewProxied(t *testing.T, s redisserver.Server) *Proxied {
	t.Helper()
	return &Proxied{New(t, s), faultproxy.Start(t, s.Addr())}
}

// URL leads to the server through the proxy.
func (p *Proxied) URL() string { return "redis://" + p.Proxy.Addr() }

// Sent counts the matching commands that reached the proxy.
func (p *Proxied) Sent(m faultproxy.Match) (n int) {
	for _, e := range p.Proxy.Record() {
		if m(e.Cmd) {
			n++
		}
	}
	return n
}

// Answered counts the matching commands that the server has answered.
func (p *Proxied) Answered(m faultproxy.Match) (n int) {
	for _, e := range p.Proxy.Record() {
		if m(e.Cmd) && !e.Answered.IsZero() {
			n++
		}
	}
	return n
}

// Hit waits until a fault was applied.
func (p *Proxied) Hit(h *faultproxy.Handle) {
	p.Helper()
	Receive(p, "the fault", h.Hit())
}
