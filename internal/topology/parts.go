package topology

import (
	"strings"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// Parts are what a URL says. They are for programs that ask the servers
// themselves, beside a client.
type Parts struct {
	Servers []string          // host:port of those to ask first: the one, Sentinels, or some of a cluster
	Master  string            // what the Sentinels call their master; empty: there are none
	Cluster bool              // the servers are of a cluster
	Target  *redisconn.Target // how any server but a Sentinel is reached, but for its address
}

// Parse reads a URL as Open does, without I/O. Its error names the part that is
// wrong, and prints no secret.
func Parse(rawURL string) (p Parts, err error) {
	switch scheme, _, _ := strings.Cut(rawURL, "://"); scheme {
	case sentinelScheme:
		u, err := parseSentinelURL(rawURL)
		return Parts{Servers: u.sentinels, Master: u.name, Target: u.to}, err
	case clusterScheme:
		p.Cluster = true
		p.Target, p.Servers, err = parseClusterURL(rawURL)
	default:
		if p.Target, err = redisconn.ParseURL(rawURL); err == nil {
			p.Servers = []string{p.Target.Address}
		}
	}
	return p, err
}
