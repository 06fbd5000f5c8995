package topology

import (
	"context"
	"log/slog"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// openSentinel is the Opener for redis+sentinel://.
func openSentinel(rawURL string, s Settings) (Topology, error) {
	u, err := parseSentinelURL(rawURL)
	if err != nil {
		return nil, err
	}
	if s.Credentials != nil && (u.user != "" || u.password != "") {
		return nil, errBothCredentials
	}
	return newSentinel(u, s), nil
}

func newSentinel(u sentinelURL, s Settings) *Sentinel {
	t := &Sentinel{u: u, s: s, log: s.Logger, feed: NewFeed(), news: make(chan struct{}, 1), nodesAt: map[string]*redisconn.Target{}, lookAtLeast: lookAtLeast}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	t.life, t.end = context.WithCancel(context.Background())
	for _, addr := range u.sentinels {
		t.peers = append(t.peers, newPeer(t, sentinelAddr{addr: addr}, true))
	}
	// The next connection may be to a server that lacks what this one had.
	changed := func() { t.feed.Tell(Change{Slots: AllSlots, From: t.node, To: t.node, DataMayBeLost: true}) }
	t.node = NewNode(NodeOptions{
		Name: u.String(), Dial: t.dial, Timeout: s.Timeout, Clock: s.Clock, Logger: s.Logger, Replicas: s.Replicas, Keep: true,
		Ended: changed, Moved: changed,
	})
	t.nodes = []*Node{t.node}
	t.listens = []Subscription{{Node: t.node}}
	return t
}
