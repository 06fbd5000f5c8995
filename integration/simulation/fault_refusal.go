package simulation

import "math/rand/v2"

// deniable are commands that an account may lack, and without which the client does with less.
var deniable = []string{"client|tracking", "client|setname", "client|id", "client|list", "pubsub|numsub", "wait", "info", "script|load"}

// refuse makes a server refuse what it could do.
func (p *play) refuse(s server, f Fault, r *rand.Rand) {
	undo := func() { p.permit(s) }
	switch f.What {
	case Denies:
		name := deniable[r.IntN(len(deniable))]
		s.Deny(name, true)
		p.noID = p.noID || name == "client|id"
		p.w.Note("%s denies %s", s.Addr, name)
	case NoKill:
		p.noKill = true
		s.Deny("client|kill", true)
	default:
		switch r.IntN(4) {
		case 0:
			s.Full = true
		case 1:
			s.Broken = true
		case 2:
			s.Busy = true
			if o, is := p.site.(*replicated); is && s == o.chosen {
				o.takeBack() // it does not say that it is the master, and clients would follow the one that does
			}
		default:
			s.MinReplicas = len(p.site.servers())
		}
	}
	p.w.After(f.Lasts, undo)
}

// permit ends all refusals of a server.
func (p *play) permit(s server) {
	s.Full, s.Broken, s.Busy, s.MinReplicas = false, false, false, 0
	for _, name := range append(deniable, "client|kill") {
		s.Deny(name, false)
	}
}
