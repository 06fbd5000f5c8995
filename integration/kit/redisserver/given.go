package redisserver

import (
	"net"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

// GivenServer is a server that somebody else runs.
type GivenServer struct{ url, addr string }

var _ Server = (*GivenServer)(nil)

// Given checks that a server answers at a redis:// or rediss:// URL. It accepts the URL of several servers or of
// Sentinels unchecked. Errors do not show the URL, since it may contain a password.
func Given(t testing.TB, rawURL string) *GivenServer {
	t.Helper()
	if several(rawURL) || sentinels(rawURL) {
		return &GivenServer{rawURL, "several servers"}
	}
	u, err := url.Parse(rawURL)
	if err != nil || u.Hostname() == "" {
		t.Fatal("redisserver: REDIS_URL is no URL of a server")
	}
	port := u.Port()
	if port == "" {
		port = "6379"
	}
	s := &GivenServer{rawURL, net.JoinHostPort(u.Hostname(), port)}
	if err := answers(rawURL); err != nil {
		t.Fatalf("redisserver: %s does not answer: %v", s.addr, err)
	}
	return s
}

// several reports whether a URL is of servers that share the slots: those of topologytest, or a cluster.
func several(rawURL string) bool {
	return strings.HasPrefix(rawURL, topologytest.Scheme+"://") || strings.HasPrefix(rawURL, "redis+cluster://")
}

// sentinels reports whether a URL is of Sentinels.
func sentinels(rawURL string) bool { return strings.HasPrefix(rawURL, "redis+sentinel://") }

// ChoosesSeveral reports whether Start gives several servers, or a master behind Sentinels.
func ChoosesSeveral() bool {
	url := os.Getenv("REDIS_URL")
	return several(url) || sentinels(url)
}

// masterURL asks the first Sentinel of a URL, which must be running, for the URL of the master.
func masterURL(rawURL string) (string, error) {
	authority, path, _ := strings.Cut(strings.TrimPrefix(rawURL, "redis+sentinel://"), "/")
	account, hosts := "", authority
	if at := strings.LastIndexByte(authority, '@') + 1; at > 0 {
		account, hosts = authority[:at], authority[at:]
	}
	first, _, _ := strings.Cut(hosts, ",")
	name, database, _ := strings.Cut(path, "/")
	conn, err := redis.Dial("tcp", first, redis.DialConnectTimeout(patience), redis.DialReadTimeout(patience))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	addr, err := redis.Strings(conn.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name))
	if err != nil {
		return "", err
	}
	return "redis://" + account + net.JoinHostPort(addr[0], addr[1]) + "/" + database, nil
}

// URL is the URL that Given was called with.
func (s *GivenServer) URL() string { return s.url }

// Addr is the URL's host and port, or a description if the URL is of several servers or of Sentinels.
func (s *GivenServer) Addr() string { return s.addr }
