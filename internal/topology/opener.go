package topology

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// Opener makes the topology of a URL, without I/O. Its error names the part of
// the URL or of the settings that can't be used, and prints no secret.
type Opener func(rawURL string, s Settings) (Topology, error)

// registered has the openers of schemes from outside the library.
var registered = map[string]Opener{}

// Register makes Open use open for URLs of scheme. It is for topologies that are not
// part of the library, such as those of tests, and must be called before any Open.
func Register(scheme string, open Opener) { registered[scheme] = open }

// HasReplicas tells whether the URL's scheme means masters with replicas that may take
// their place.
func HasReplicas(rawURL string) bool {
	scheme := redisconn.Scheme(rawURL)
	return scheme == sentinelScheme || scheme == clusterScheme || scheme == replicatedScheme
}

// Open makes the topology that the URL's scheme names. It is an Opener.
func Open(rawURL string, s Settings) (Topology, error) {
	scheme := redisconn.Scheme(rawURL)
	if scheme != sentinelScheme && (s.SentinelTLS != nil || s.SentinelCredentials != nil) {
		return nil, errors.New("WithSentinelTLSConfig and WithSentinelCredentials are for redis+sentinel:// URLs")
	}
	if open := registered[scheme]; open != nil {
		return open(rawURL, s)
	}
	p, err := Parse(rawURL)
	t := p.Target
	switch {
	case err != nil:
		return nil, err
	case slices.Contains([]string{"redis", "valkey", "unix"}, scheme) && s.TLS != nil:
		return nil, fmt.Errorf("a TLS configuration for a %s:// URL; TLS needs rediss:// or valkeys://", scheme)
	case s.Credentials != nil && (t.Username != "" || t.Password != ""):
		return nil, errors.New("WithCredentials: the URL has a user or a password as well")
	}
	t.Name, t.Credentials, t.Dialer = s.ConnectionName, s.Credentials, s.Dialer
	if s.TLS != nil {
		t.TLS = s.TLS
	}
	switch scheme {
	case sentinelScheme:
		return newSentinel(p, s), nil
	case clusterScheme:
		return newCluster(p, s), nil
	case replicatedScheme:
		return newReplicated(p, s), nil
	}
	return dialled(t.At(t.Address), s), nil
}

// Parts are the contents of a URL.
type Parts struct {
	Servers    []string          // host:port of the one server, the Sentinels, some servers of a cluster, or a master and its replicas
	Master     string            // what the Sentinels call their master; empty: there are none
	Cluster    bool              // the servers belong to a cluster
	Replicated bool              // they are a master and its replicas
	Target     *redisconn.Target // how to reach any server but a Sentinel; its address counts for one server only
}

// Parse reads a URL, without I/O. Its error names the part that is wrong, and prints no
// secret.
func Parse(rawURL string) (Parts, error) {
	switch redisconn.Scheme(rawURL) {
	case sentinelScheme:
		return parseSentinelURL(rawURL)
	case clusterScheme:
		return parseClusterURL(rawURL)
	case replicatedScheme:
		return parseReplicatedURL(rawURL)
	}
	target, err := redisconn.ParseURL(rawURL)
	if err != nil {
		return Parts{}, err
	}
	return Parts{Servers: []string{target.Address}, Target: target}, nil
}

// parseSeveral reads scheme://[user:password@]host[:port],…[/more]. It reads each host
// as in a single server's URL, but for the default port. Like redisconn.ParseURL, it
// prints nothing that could hold a password.
func parseSeveral(raw, port string) (p Parts, more string, err error) {
	if err := redisconn.CheckURL(raw); err != nil {
		return p, "", err
	}
	_, rest, _ := strings.Cut(raw, "://")
	authority, more, _ := strings.Cut(rest, "/")
	if strings.ContainsAny(more, "@?#") {
		return p, "", errors.New("url: an @, a query or a fragment behind the hosts; reserved characters in a password are percent-encoded, and settings are options of Open")
	}
	at := strings.LastIndexByte(authority, '@') + 1
	for i, host := range strings.Split(authority[at:], ",") {
		if host != "" && strings.LastIndex(host, ":") <= strings.LastIndex(host, "]") {
			host += ":" + port
		}
		if p.Target, err = redisconn.ParseURL("redis://" + authority[:at] + host); err != nil {
			return p, "", fmt.Errorf("url: host %d: %s", i+1, strings.TrimPrefix(err.Error(), "url: "))
		}
		p.Target.TLSOption = "WithTLSConfig" // the scheme has no form with TLS
		if !slices.Contains(p.Servers, p.Target.Address) {
			p.Servers = append(p.Servers, p.Target.Address)
		}
	}
	return p, more, nil
}
