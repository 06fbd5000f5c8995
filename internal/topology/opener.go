package topology

import (
	"errors"
	"strings"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// Opener makes the topology of a URL, without I/O. Its error names the part of
// the URL or of the settings that can't be used, and prints no secret.
type Opener func(rawURL string, s Settings) (Topology, error)

// openers has those of the schemes that openSingle does not know.
var openers = map[string]Opener{sentinelScheme: openSentinel, clusterScheme: openCluster}

// Register makes Open use open for URLs of scheme. It is for topologies that are
// not part of the library, such as those of tests, and is called before any Open.
func Register(scheme string, open Opener) { openers[scheme] = open }

// Replicated tells whether the URL's scheme is of a topology whose masters have
// replicas that may take their place.
func Replicated(rawURL string) bool {
	scheme, _, _ := strings.Cut(rawURL, "://")
	return scheme == sentinelScheme || scheme == clusterScheme
}

// Open makes the topology that the URL's scheme names. It does no I/O.
func Open(rawURL string, s Settings) (Topology, error) {
	scheme, _, _ := strings.Cut(rawURL, "://")
	if scheme != sentinelScheme && (s.SentinelTLS != nil || s.SentinelCredentials != nil) {
		return nil, errors.New("WithSentinelTLSConfig and WithSentinelCredentials are for redis+sentinel:// URLs")
	}
	open := openers[scheme]
	if open == nil {
		open = openSingle
	}
	return open(rawURL, s)
}

// openSingle knows redis:// and rediss://, and refuses all others.
func openSingle(rawURL string, s Settings) (Topology, error) {
	target, err := redisconn.ParseURL(rawURL)
	if err == nil && s.TLS != nil && target.TLS == nil {
		err = errors.New("a TLS configuration for a redis:// URL; TLS needs rediss://")
	}
	if err = s.complete(target, err); err != nil {
		return nil, err
	}
	return dialled(target.At(target.Address), s), nil
}

// cutURL cuts scheme://[user:password@]host,host[/path]. user ends with its @.
func cutURL(raw string) (user, hosts, path string) {
	_, rest, _ := strings.Cut(raw, "://")
	authority, path, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@') + 1
	return authority[:at], authority[at:], path
}
