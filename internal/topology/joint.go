package topology

import (
	"sync/atomic"

	"github.com/rlock-go/redisson/pubsub"
)

// Listening is one waiter's share in a channel, on all nodes that the topology
// says.
type Listening interface {
	// Close is that of pubsub.Subscription.
	Close()
}

// Subscribe asks for channel, of slot, on behalf of w. It is Hub.Subscribe, and
// keeps its promises: w is told Confirmed when all subscriptions are, and after
// that whenever one of them is confirmed anew; Refused when one of them is. With
// several subscriptions w may be called by several goroutines, and hears what is
// published to two of them twice.
func Subscribe(t Topology, slot uint16, channel string, w pubsub.Waker) Listening {
	subs := t.Subscriptions(slot)
	if len(subs) == 1 {
		return subs[0].subscribe(channel, w)
	}
	j := &joint{w: w, subs: make([]*pubsub.Subscription, len(subs))}
	j.missing.Store(int32(len(subs)))
	for i, s := range subs {
		j.subs[i] = s.subscribe(channel, &partWaker{joint: j})
	}
	return j
}

// joint is several subscriptions as one.
type joint struct {
	w       pubsub.Waker
	subs    []*pubsub.Subscription
	missing atomic.Int32 // subscriptions that were never confirmed
	refused atomic.Bool
}

// Close gives them all up.
func (j *joint) Close() {
	for _, s := range j.subs {
		s.Close()
	}
}

// partWaker is told by one of a joint's hubs.
type partWaker struct {
	joint     *joint
	confirmed bool // written by its hub's calls, which come one at a time
}

// Confirmed counts the first one, and passes on what completes or follows.
func (p *partWaker) Confirmed() {
	if !p.confirmed {
		p.confirmed = true
		if p.joint.missing.Add(-1) > 0 {
			return
		}
	} else if p.joint.missing.Load() > 0 {
		return
	}
	p.joint.w.Confirmed()
}

// Message passes on what comes after all are confirmed: before that, the waiter
// is told to look anyway.
func (p *partWaker) Message(payload []byte) {
	if p.joint.missing.Load() == 0 {
		p.joint.w.Message(payload)
	}
}

// Twin drops what the other part of the joint has just heard.
func (p *partWaker) Twin([]byte) {}

// Refused passes on the first one.
func (p *partWaker) Refused(err error) {
	if !p.joint.refused.Swap(true) {
		p.joint.w.Refused(err)
	}
}
