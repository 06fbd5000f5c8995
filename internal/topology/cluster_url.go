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

// parseClusterURL has each host read as that of one server's URL. Its errors name
// the part, and print nothing of it.
func parseClusterURL(rawURL string) (*redisconn.Target, []string, error) {
	user, hosts, path := cutURL(rawURL)
	if strings.Contains(path, "@") || strings.ContainsAny(user+hosts, "?#") {
		return nil, nil, errors.New("url: user, host or port malformed; reserved characters in a password are percent-encoded")
	}
	if path != "" {
		return nil, nil, errors.New("url: nothing may follow the hosts: a cluster has one database")
	}
	target, err := redisconn.ParseURL("redis://" + user + "h")
	if err != nil {
		return nil, nil, err
	}
	var seeds []string
	for i, host := range strings.Split(hosts, ",") {
		one, err := redisconn.ParseURL("redis://" + host)
		if err != nil {
			return nil, nil, fmt.Errorf("host %d: %w", i+1, err)
		}
		seeds = append(seeds, one.Address)
	}
	return target, seeds, nil
}

// openCluster reads redis+cluster://[user:password@]h1:p1,h2:p2.
func openCluster(rawURL string, s Settings) (Topology, error) {
	target, seeds, err := parseClusterURL(rawURL)
	if err = s.complete(target, err); err != nil {
		return nil, err
	}
	return newCluster(seeds, target, s), nil
}

func newCluster(seeds []string, target *redisconn.Target, s Settings) *Cluster {
	ctx, stop := context.WithCancel(context.Background())
	t := &Cluster{
		s: s, seeds: seeds, target: target, Feed: NewFeed(), by: map[string]*member{}, recently: map[uint16]moved{},
		look: make(chan struct{}, 1), looked: make(chan struct{}), stop: stop,
	}
	t.nodes.Store(new([]*Node))
	t.running.Go(func() { t.watch(ctx) })
	return t
}
