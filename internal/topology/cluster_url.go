package topology

import (
	"context"
	"errors"
	"time"
)

// clusterScheme is the scheme of a cluster's URL.
const clusterScheme = "redis+cluster"

// parseClusterURL reads redis+cluster://[user:password@]h1:p1,h2:p2.
func parseClusterURL(rawURL string) (p Parts, err error) {
	p, more, err := parseSeveral(rawURL, "6379")
	if err == nil && more != "" {
		err = errors.New("url: nothing may follow the hosts: locks of a cluster are in database 0, also where it has more (Valkey 9)")
	}
	p.Cluster = true
	return p, err
}

func newCluster(p Parts, s Settings) *Cluster {
	t := &Cluster{
		s: s, seeds: p.Servers, target: p.Target, Feed: NewFeed(), by: map[string]*member{}, recently: map[uint16]time.Time{},
		look: make(chan struct{}, 1), looked: make(chan struct{}),
	}
	t.life, t.end = context.WithCancel(context.Background())
	t.nodes.Store(new([]*Node))
	t.running.Go(t.watch)
	return t
}
