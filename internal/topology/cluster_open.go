package topology

import (
	"context"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// openCluster reads redis+cluster://[user:password@]h1:p1,h2:p2.
func openCluster(rawURL string, s Settings) (Topology, error) {
	target, seeds, err := parseClusterURL(rawURL)
	if err == nil {
		err = s.complete(target)
	}
	if err != nil {
		return nil, err
	}
	return newCluster(seeds, target, s), nil
}

func newCluster(seeds []string, target *redisconn.Target, s Settings) *Cluster {
	ctx, stop := context.WithCancel(context.Background())
	t := &Cluster{
		s: s, seeds: seeds, target: target, feed: NewFeed(), by: map[string]*member{}, recently: map[uint16]moved{},
		look: make(chan struct{}, 1), looked: make(chan struct{}), stop: stop,
	}
	t.nodes.Store(new([]*Node))
	t.running.Go(func() { t.watch(ctx) })
	return t
}
