package topology

import (
	"errors"
	"strings"
	"sync"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// Opener makes the topology of a URL, without I/O. Its error names the part of
// the URL or of the settings that can't be used, and prints no secret.
type Opener func(rawURL string, s Settings) (Topology, error)

var schemes struct {
	mu      sync.Mutex // guards openers
	openers map[string]Opener
}

// Register makes Open use open for URLs of scheme. It is for topologies that are
// not part of the library, such as those of tests.
func Register(scheme string, open Opener) {
	schemes.mu.Lock()
	defer schemes.mu.Unlock()
	if schemes.openers == nil {
		schemes.openers = map[string]Opener{}
	}
	schemes.openers[scheme] = open
}

// Replicated tells whether the URL's scheme is of a topology whose masters have
// replicas that may take their place.
func Replicated(rawURL string) bool {
	scheme, _, _ := strings.Cut(rawURL, "://")
	return scheme == sentinelScheme || scheme == clusterScheme
}

// Open makes the topology that the URL's scheme names. It does no I/O.
func Open(rawURL string, s Settings) (Topology, error) {
	scheme, _, _ := strings.Cut(rawURL, "://")
	if scheme == sentinelScheme {
		return openSentinel(rawURL, s)
	}
	if s.SentinelTLS != nil || s.SentinelCredentials != nil {
		return nil, errors.New("WithSentinelTLSConfig and WithSentinelCredentials are for redis+sentinel:// URLs")
	}
	if scheme == clusterScheme {
		return openCluster(rawURL, s)
	}
	schemes.mu.Lock()
	open := schemes.openers[scheme]
	schemes.mu.Unlock()
	if open == nil {
		open = openSingle
	}
	return open(rawURL, s)
}

// openSingle knows redis:// and rediss://, and refuses all others.
func openSingle(rawURL string, s Settings) (Topology, error) {
	target, err := redisconn.ParseURL(rawURL)
	if err == nil && s.TLS != nil {
		err = target.UseTLS(s.TLS)
	}
	if err == nil && s.Credentials != nil && (target.Username != "" || target.Password != "") {
		err = errBothCredentials
	}
	if err != nil {
		return nil, err
	}
	target.Name, target.Credentials, target.Dialer = s.ConnectionName, s.Credentials, s.Dialer
	return dialled(target, s), nil
}
