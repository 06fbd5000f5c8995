package testbed

import (
	"testing"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
)

// Proxied is a rig whose connection goes around a proxy that clients pass.
type Proxied struct {
	*Rig
	Proxy *faultproxy.Proxy // where clients connect to
}

// NewProxied puts a proxy before a server.
func NewProxied(t *testing.T, s redisserver.Server) *Proxied {
	t.Helper()
	return &Proxied{New(t, s), faultproxy.Start(t, s.Addr())}
}

// URL leads to the server, by the proxy.
func (p *Proxied) URL() string { return "redis://" + p.Proxy.Addr() }

// Sent counts the commands that came to the proxy.
func (p *Proxied) Sent(m faultproxy.Match) (n int) {
	for _, e := range p.Proxy.Record() {
		if m(e.Cmd) {
			n++
		}
	}
	return n
}

// Answered counts those of them that the server has answered.
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
