package topology

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// clusterScheme is that of URLs of clusters.
const clusterScheme = "redis+cluster"

// parseClusterURL reads redis+cluster://[user:password@]h1:p1,h2:p2. It has each host
// read as that of one server's URL.
func parseClusterURL(rawURL string) (p Parts, err error) {
	user, hosts, path := cutURL(rawURL)
	if strings.Contains(path, "@") || strings.ContainsAny(user+hosts, "?#") {
		return p, errors.New("url: user, host or port malformed; reserved characters in a password are percent-encoded")
	}
	if path != "" {
		return p, errors.New("url: nothing may follow the hosts: a cluster has one database")
	}
	p.Cluster = true
	if p.Target, err = redisconn.ParseURL("redis://" + user + "h"); err != nil {
		return p, err
	}
	for i, host := range strings.Split(hosts, ",") {
		one, err := redisconn.ParseURL("redis://" + host)
		if err != nil {
			return p, fmt.Errorf("host %d: %w", i+1, err)
		}
		p.Servers = append(p.Servers, one.Address)
	}
	return p, nil
}

func newCluster(p Parts, s Settings) *Cluster {
	ctx, stop := context.WithCancel(context.Background())
	t := &Cluster{
		s: s, seeds: p.Servers, target: p.Target, Feed: NewFeed(), by: map[string]*member{}, recently: map[uint16]moved{},
		look: make(chan struct{}, 1), looked: make(chan struct{}), stop: stop,
	}
	t.nodes.Store(new([]*Node))
	t.running.Go(func() { t.watch(ctx) })
	return t
}
