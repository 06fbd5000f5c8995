package simulation

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// ran sees each command that a server runs, with the world's lock held. Faults at random moments
// seldom hit the moments that matter, so the play makes some of them here: it cancels a wait just
// behind a grant or a release, when a grant or a wake-up may find nobody, and it lets a holder
// release just behind the refusal of somebody that does not listen yet.
func (p *play) ran(s server, host string, args []string, reply any) {
	p.judgeTraffic(host, args, reply)
	if args[0] != "EVALSHA" && args[0] != "EVAL" && args[0] != "DEL" && args[0] != "FLUSHALL" || len(args) < 4 {
		return
	}
	p.ranJava = slices.ContainsFunc(p.javas, func(j *java) bool { return j.host == host })
	defer func() { p.ranJava = false }()
	script := scriptOf(args)
	for _, o := range p.objects {
		for _, command := range o.ownerCommands(script, args) {
			p.judgeOwner(o, s, host, command, reply)
		}
		if args[3] != o.Name && !(o.Kind == Fair && args[3] == queueOf(o.Name)) && !(o.Kind == Permits && args[3] == timesOf(o.Name)) {
			continue
		}
		m := p.site.master(o.Name)
		p.look(o, m) // which s was, if its slot moves and the command has deleted the key
		there := reply
		if whole, ok := reply.([]any); ok && len(whole) > 0 {
			there = whole[0] // the rest says which command the script was refused
		}
		counts := m == s || o.deleted == deletion{s, time.Now()}
		if counts && strings.Contains(script, "force") && there == int64(1) {
			p.forced(o, host)
		}
		p.tempt(o, reply)
		if script != "" {
			p.loseReply(o, s, host)
		}
	}
}

// forced records that a host took the lock from its holder.
func (p *play) forced(o *object, host string) {
	o.forcedAt, o.forcedBy = time.Now(), host
	p.voids(o, forced, func(h *hold) bool { return !h.there(p.site.master(o.Name)) })
	if lost := p.takenNow(o); p.calm() && len(lost) > 0 {
		go p.judgeTold(lost, p.toldWithin())
	}
}

// tempt brings the bad moments behind a reply.
func (p *play) tempt(o *object, reply any) {
	if ms, ok := reply.(int64); ok && ms > 1 && p.w.Rand.IntN(4) == 0 {
		for _, h := range o.holds {
			p.w.After(time.Duration(p.w.Rand.Int64N(int64(1200*time.Microsecond))), h.nudge)
		}
	}
	if reply != nil && reply != int64(1) || p.w.Rand.IntN(5) > 0 || len(p.cancels) == 0 {
		return
	}
	c := p.cancels[p.w.Rand.IntN(len(p.cancels))]
	end := *c.ends
	if p.w.Rand.IntN(2) == 0 { // in the instant in which its host hears of it
		p.w.AtDelivery[c.host] = append(p.w.AtDelivery[c.host], end)
		return
	}
	p.w.After(time.Duration(p.w.Rand.Int64N(int64(1200*time.Microsecond))), func() { go end() })
}

// mayCancel lets the adversary end a call.
func (p *play) mayCancel(c *call, end *context.CancelFunc) {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	c.ends = end
	p.cancels = append(p.cancels, c)
}

func (p *play) mayNotCancel(c *call) {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	p.cancels = without(p.cancels, c)
}

// lostEvery is how often a reply may be lost. Each costs the commands of a new connection.
const lostEvery = 1500 * time.Millisecond

// loseReply breaks the connections of a host behind a command, of which it gets no reply then. In the moments in which the command is
// sent again a call of the host is cancelled, or a holder releases.
func (p *play) loseReply(o *object, s server, host string) {
	if !p.storming || p.Former || time.Since(p.lostAt) < lostEvery || p.lossy.IntN(10) > 0 {
		return
	}
	p.lostAt = time.Now()
	p.w.After(time.Duration(p.lossy.Int64N(int64(40*time.Microsecond))), func() {
		for _, c := range p.w.Conns(func(c *simnet.Conn) bool { return c.Host() == host && c.Server() == s.Addr }) {
			c.Break()
		}
	})
	soon := func() time.Duration { return time.Duration(p.lossy.Int64N(int64(2500 * time.Microsecond))) }
	if p.lossy.IntN(2) == 0 {
		for _, h := range o.holds {
			p.w.After(soon(), h.nudge)
		}
		return
	}
	for _, c := range p.cancels {
		if c.host == host && c.o == o {
			end := *c.ends
			p.w.After(soon(), func() { go end() })
			return
		}
	}
}

// nudge lets a holder release now.
func (h *hold) nudge() {
	select {
	case h.now <- struct{}{}:
	default:
	}
}
