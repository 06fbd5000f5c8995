package topology

import (
	"context"

	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// openSentinel is the Opener for redis+sentinel://.
func openSentinel(rawURL string, s Settings) (Topology, error) {
	u, err := parseSentinelURL(rawURL)
	if err == nil {
		err = s.complete(u.to)
	}
	if err != nil {
		return nil, err
	}
	return newSentinel(u, s), nil
}

func newSentinel(u sentinelURL, s Settings) *Sentinel {
	t := &Sentinel{u: u, s: s, news: make(chan struct{}, 1), nodesAt: map[string]*redisconn.Target{}, lookAtLeast: lookAtLeast}
	t.life, t.end = context.WithCancel(context.Background())
	for _, addr := range u.sentinels {
		t.peers = append(t.peers, newPeer(t, sentinelAddr{addr: addr}, true))
	}
	t.begin(s, NodeOptions{Name: u.String(), Dial: t.dial, Options: pipeline.Options{Stays: t.stays, Known: t.replicas, Moved: t.changed}})
	return t
}
