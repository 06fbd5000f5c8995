package topology

import (
	"context"
	"crypto/tls"
	"errors"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// openCluster reads redis+cluster://[user:password@]h1:p1,h2:p2.
func openCluster(rawURL string, s Settings) (Topology, error) {
	target, seeds, err := parseClusterURL(rawURL)
	if err == nil && s.Credentials != nil && (target.Username != "" || target.Password != "") {
		err = errors.New("WithCredentials: the URL has a user or a password as well")
	}
	if err != nil {
		return nil, err
	}
	target.Name, target.Credentials, target.Dialer = s.ConnectionName, s.Credentials, s.Dialer
	if s.TLS != nil {
		target.TLS = s.TLS.Clone()
		target.TLS.MinVersion = max(target.TLS.MinVersion, tls.VersionTLS12)
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
