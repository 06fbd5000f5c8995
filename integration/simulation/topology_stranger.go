package simulation

import (
	"math/rand/v2"

	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// A server dies, and its address goes to the only server of another cluster. It takes all commands, and says that it serves every slot.
// After a while, or when all is healed, it gives way to the server that had the address.

// stranger is such a server.
type stranger struct {
	server
	of server // that had the address
}

// replace gives the address of a server to a stranger, which must get no script.
func (p *play) replace(f Fault, r *rand.Rand) {
	o, is := p.site.(*cluster)
	s := drawn(r, p.site.servers(), reachable)
	if !is || s == nil || o.stranger != nil {
		return
	}
	s.Kill(r.IntN(2) == 0)
	other := simredis.NewCluster(p.w, 1, 0).Servers[0]
	other.Ran = func(_ server, host string, args []string, _ any) {
		if args[0] == "EVALSHA" || args[0] == "EVAL" {
			p.violate("stranger: %s sent %q to another cluster's server, which has the address %s", host, args, s.Addr)
		}
	}
	other.Kill(true)
	other.Readdress(s.Addr)
	other.Start(true)
	here := &stranger{other, s}
	o.stranger = here
	p.w.After(f.Lasts, func() {
		if o.stranger == here {
			o.restore()
		}
	})
}

// restore ends a stranger's stay.
func (o *cluster) restore() {
	if o.stranger == nil {
		return
	}
	o.stranger.Kill(true)
	s := o.stranger.of
	o.stranger = nil
	s.Readdress(s.Addr)
	if !s.Running() {
		s.Start(true)
	}
}
