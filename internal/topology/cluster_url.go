package topology

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// clusterScheme is that of URLs of clusters.
const clusterScheme = "redis+cluster"

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

// parseClusterURL has each host read as that of one server's URL. Its errors name
// the part, and print nothing of it.
func parseClusterURL(rawURL string) (*redisconn.Target, []string, error) {
	_, rest, _ := strings.Cut(rawURL, "://")
	user, hosts := "", rest
	authority, path, _ := strings.Cut(rest, "/")
	if strings.Contains(path, "@") || strings.ContainsAny(authority, "?#") {
		return nil, nil, errors.New("url: user, host or port malformed; reserved characters in a password are percent-encoded")
	}
	if path != "" {
		return nil, nil, errors.New("url: nothing may follow the hosts: a cluster has one database")
	}
	hosts = authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, hosts = authority[:at+1], authority[at+1:]
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
