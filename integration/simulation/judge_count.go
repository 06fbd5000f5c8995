package simulation

import (
	"errors"
	"slices"
	"time"
)

// judgeCounts compares what the servers count with what callers were told, when no call is open
// and time enough has passed for what is undone in the background.
func (p *play) judgeCounts() {
	for _, o := range p.objects {
		m := p.site.master(o.Name)
		text, there := m.Value(o.Name)
		switch is := number(text); {
		case !o.count.known || len(o.calls) > 0 || o.Kind == Permits: // permits are judged all the time
		case !there && o.Kind != Latch:
			p.breach("count: %s has gone", o.Name)
		case is < o.count.low || is > o.count.high:
			p.breach("count: %s is %d on the server, and by the answers of all calls it is from %d to %d", o.Name, is, o.count.low, o.count.high)
		default:
			p.res.Outcomes["counts that were judged"]++
		}
	}
}

// judgeOnce judges that the server counts one hold of an owner that has entered once, however often its acquire was sent.
// A next master may lack the unlock that gave an earlier grant of it back, and has that only after the acquire.
func (p *play) judgeOnce(h *hold, m server) {
	if !p.steady(h.began) {
		return
	}
	if is, there := m.Field(h.o.Name, h.field()); there && is != "1" && h.life != nil && !h.common {
		p.breach("once: %s entered %s once as %s, and the server counts %s", h.who, h.o.Name, h.owner, is)
	}
}

// follow judges that a latch's count falls once for each call that counts it down.
func (p *play) follow(o *object, m server) {
	text, _ := m.Value(o.Name)
	is := number(text)
	for range o.value - is {
		o.falls = append(o.falls, time.Now())
	}
	o.value = is
	if fell := len(o.falls); fell > o.downs {
		p.breach("count: %s fell by %d, and %d calls counted it down", o.Name, fell, o.downs)
		o.falls = nil
	}
}

// refalls forgets how a latch's count has fallen since a time: its server lacks that, and the calls are sent again.
func (o *object) refalls(since time.Time) {
	o.falls = slices.DeleteFunc(o.falls, func(at time.Time) bool { return at.After(since) })
}

// counts records what a call that changes a number by n said. It is called with the world's lock held.
func (o *object) counts(n int64, err error) {
	switch {
	case err == nil || errors.Is(err, errUnreplicated):
		o.count.add(n)
	case maybe(err):
		o.count.may(n)
	}
}
