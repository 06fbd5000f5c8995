package topology

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/pubsub"
)

const (
	// switchChannel is where a Sentinel announces another master.
	switchChannel = "+switch-master"

	// replicaChannel is where it announces another replica, of any master.
	replicaChannel = "+slave"

	// selectedChannel is where it announces which replica it is about to promote.
	selectedChannel = "+selected-slave"

	// monitorChannel is where it announces that it was told to watch a master.
	monitorChannel = "+monitor"

	// mostSentinels bounds how many Sentinels are listened to: a handful is usual.
	mostSentinels = 16

	// stragglers is how long askAll waits for late Sentinels once most have answered.
	stragglers = 50 * time.Millisecond

	// lastRetry is the longest pause before an unreachable Sentinel is tried again.
	lastRetry = 5 * time.Second
)

func newSentinelNode(t *Sentinel, m sentinelAddr, given bool) *sentinelNode {
	// Sentinels have accounts of their own.
	as := redisconn.Target{TLS: t.s.SentinelTLS, Name: t.s.ConnectionName, Credentials: t.s.SentinelCredentials, Option: "WithSentinelCredentials", TLSOption: "WithSentinelTLSConfig", Dialer: t.s.Dialer}
	p := &sentinelNode{t: t, target: as.At(m.addr), given: given, id: m.id}
	// No error is permanent: the other Sentinels may say all that is needed.
	p.hub = pubsub.New(func(ctx context.Context) (redis.Conn, error) { return p.target.Dial(ctx, t.s.Timeout) }, pubsub.Options{Timeout: t.s.Timeout, MaxRetry: lastRetry, Logger: t.s.Log.Logger(), Name: "sentinel " + m.addr})
	return p
}

// listen subscribes to the Sentinel's messages, until the hub is closed. The client asks the
// Sentinels when one announces another replica, or that it watches a master anew.
func (p *sentinelNode) listen() {
	asks := hears(func([]byte) { clock.Signal(p.t.news) })
	// The replicas are counted when one is about to be promoted. If that is the first replica and
	// came a moment ago, no write waits for it yet. Until the client hears of the next master, writes
	// to the former one would count as safe, and be lost. The message has "slave", the replica's name,
	// host and port, "@", and the same of the master.
	counts := hears(func(message []byte) {
		if words := strings.Fields(string(message)); len(words) > 5 && words[5] == p.t.u.Master {
			for _, pipe := range p.t.node.pipes {
				pipe.Count()
			}
		}
	})
	p.hub.Subscribe(switchChannel, p)
	p.hub.Subscribe(replicaChannel, asks)
	p.hub.Subscribe(monitorChannel, asks)
	p.hub.Subscribe(selectedChannel, counts)
}

// hears gets a channel's messages. If the account may not subscribe to it, the next look is soon
// enough.
type hears func(payload []byte)

func (f hears) Message(payload []byte) { f(payload) }
func (hears) Confirmed()               {}
func (hears) Refused(error)            {}

// Confirmed asks the Sentinels, since earlier messages may have been missed.
func (p *sentinelNode) Confirmed() { clock.Signal(p.t.news) }

// Refused logs that the Sentinel can't be listened to. It is called once at most.
func (p *sentinelNode) Refused(err error) {
	p.t.s.Log.SentinelUnheard(p.target.Address, err)
}

// Message gets the master's name, the former one's host and port, and those of the next. The
// connections to the former one end at once. Then the Sentinels are asked for the next one: one
// that was cut off may announce an old change, see choice.takenBack.
func (p *sentinelNode) Message(payload []byte) {
	words := strings.Fields(string(payload))
	if len(words) != 5 || words[0] != p.t.u.Master {
		return
	}
	t, by := p.t, p.target.Address
	t.mu.Lock()
	left := t.choice.leave(by, net.JoinHostPort(words[1], words[2]), time.Now())
	t.mu.Unlock()
	if left.names != nil {
		t.move(left.names, net.JoinHostPort(words[3], words[4]), by, errLeft)
	}
	clock.Signal(t.news)
}

// askAll asks all known Sentinels at the same time. It returns their answers when all
// have come, or when half of ctx's time is over: the rest is for the master. With most it
// returns shortly after most have come. Who asks whether the master stays needs them all,
// since only the Sentinel that leads a failover says so.
func (t *Sentinel) askAll(ctx context.Context, most bool) []testimony {
	t.mu.Lock()
	sentinels := t.sentinels
	if t.life.Err() != nil { // nobody needs the answers
		sentinels = nil
	}
	answers := make(chan testimony, len(sentinels))
	deadline, _ := ctx.Deadline()
	ctx, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
	defer cancel()
	for _, p := range sentinels {
		t.tasks.Go(func() {
			one := ask(ctx, p.target, t.u.Master)
			answers <- one
			for _, r := range one.refused {
				t.s.Log.CommandRefused(nil, one.from, r.command, r.err)
			}
		})
	}
	t.mu.Unlock()
	var said []testimony
	var enough <-chan time.Time
	for len(said) < len(sentinels) {
		select {
		case one := <-answers:
			said = append(said, one)
			if most && enough == nil && 2*voices(said) > existing(said, len(sentinels)) {
				enough = time.After(stragglers)
			}
		case <-enough:
			return t.ours(said)
		}
	}
	return t.ours(said)
}

// errStranger is why a Sentinel that answered is not believed.
var errStranger = errors.New("another Sentinel answers at its address, and no other Sentinel knows of that")

// ours drops the answers of Sentinels with another id than their address was learned with.
// The other Sentinels list an address until they are reset, and a Sentinel of another set
// may have got it since. One that was set up anew is listed with its new id, by a Sentinel
// that is believed.
func (t *Sentinel) ours(said []testimony) []testimony {
	t.mu.Lock()
	defer t.mu.Unlock()
	var listed []sentinelAddr // by those that are believed
	believed := func(one testimony) bool {
		ok := slices.Contains(listed, sentinelAddr{one.from, one.id}) || !slices.ContainsFunc(t.sentinels, func(p *sentinelNode) bool {
			return one.from == p.target.Address && !p.given && p.id != "" && one.id != "" && one.id != p.id
		})
		if ok {
			listed = append(listed, one.others...)
		}
		return ok
	}
	strangers := slices.Clone(said)
	for n := -1; n != len(strangers); { // each that is believed may know another
		n, strangers = len(strangers), slices.DeleteFunc(strangers, believed)
	}
	for i, one := range said {
		if slices.ContainsFunc(strangers, func(s testimony) bool { return s.from == one.from }) {
			said[i] = testimony{from: one.from, err: fmt.Errorf("sentinel %s: %w", one.from, errStranger)}
		}
	}
	return said
}

// meet takes the list of Sentinels from those that answered. A Sentinel of the URL
// stays. Any other goes if no Sentinel that answered knows it.
func (t *Sentinel) meet(said []testimony) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.life.Err() != nil {
		return
	}
	known := map[string]bool{} // by address
	for _, one := range said {
		if one.err != nil {
			continue
		}
		known[one.from] = true
		for _, p := range t.sentinels {
			if p.target.Address == one.from && one.id != "" {
				p.id = one.id
			}
		}
		for _, m := range one.others {
			known[m.addr] = true
		}
	}
	if len(known) == 0 {
		return
	}
	stay := make([]*sentinelNode, 0, len(t.sentinels)) // askAll may still read the old slice
	for _, p := range t.sentinels {
		// The URL may have it by another address.
		twice := p.id != "" && slices.ContainsFunc(t.sentinels, func(o *sentinelNode) bool { return o.given && o.id == p.id })
		if p.given || known[p.target.Address] && !twice {
			stay = append(stay, p)
			continue
		}
		t.tasks.Go(func() { p.hub.Close() })
	}
	t.sentinels = stay
	for _, one := range said {
		for _, m := range one.others {
			t.learn(m)
		}
	}
}

// learn adds a Sentinel unless its address or its id is known, or mostSentinels are.
// It is called with mu held.
func (t *Sentinel) learn(m sentinelAddr) {
	if len(t.sentinels) >= mostSentinels || slices.ContainsFunc(t.sentinels, func(p *sentinelNode) bool {
		return m.same(sentinelAddr{p.target.Address, p.id})
	}) {
		return
	}
	p := newSentinelNode(t, m, false)
	t.sentinels = append(slices.Clip(t.sentinels), p)
	if t.begun {
		p.listen()
	}
}
