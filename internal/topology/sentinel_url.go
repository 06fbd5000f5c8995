package topology

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// sentinelScheme is that of a master's URL that names its Sentinels.
const sentinelScheme = "redis+sentinel"

// sentinelURL is what redis+sentinel:// says.
type sentinelURL struct {
	sentinels []string          // host:port of each
	name      string            // of the master
	to        *redisconn.Target // the master and its replicas, but for the address
}

// parseSentinelURL reads redis+sentinel://[user:password@]host[:port],…/name[/db].
// A Sentinel's default port is 26379. Like redisconn.ParseURL, it prints nothing
// that could hold a password.
func parseSentinelURL(raw string) (u sentinelURL, err error) {
	user, hosts, path := cutURL(raw)
	for _, host := range strings.Split(hosts, ",") {
		if host != "" && strings.LastIndex(host, ":") <= strings.LastIndex(host, "]") {
			host += ":26379"
		}
		// The rules for each are those of a single server's URL.
		t, err := redisconn.ParseURL("redis://" + user + host)
		if err != nil {
			return u, err
		}
		u.to = t
		if !slices.Contains(u.sentinels, t.Address) {
			u.sentinels = append(u.sentinels, t.Address)
		}
	}
	switch {
	case strings.Contains(path, "#"):
		return u, errors.New("url: a fragment (#) has no meaning here; a # in a password is written %23")
	case strings.Contains(path, "?"):
		return u, errors.New("url: a query has no meaning here; settings are options of Open")
	}
	escaped, db, _ := strings.Cut(path, "/")
	if u.name, err = url.PathUnescape(escaped); err != nil {
		return u, errors.New("url: the master's name is malformed; reserved characters in a password are percent-encoded")
	}
	if u.name == "" {
		return u, errors.New("url: no master's name after the Sentinels; want redis+sentinel://host:port,host:port/master-name")
	}
	if strings.ContainsFunc(u.name, func(r rune) bool { return !nameable(r) }) {
		return u, errors.New("url: the master's name has characters that no Sentinel takes: it may have letters, digits and .-_")
	}
	if db != "" {
		n, err := strconv.ParseUint(db, 10, 31)
		if err != nil {
			return u, errors.New("url: the database after the master's name is not a number")
		}
		u.to.Database = int(n)
	}
	return u, nil
}

// nameable tells what a Sentinel takes in a master's name.
func nameable(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(".-_", r)
}

// String is the URL without its secrets, for people.
func (u sentinelURL) String() string {
	s := strings.Join(u.sentinels, ",") + "/" + u.name
	if u.to.Database != 0 {
		s += fmt.Sprintf("/%d", u.to.Database)
	}
	return s
}

// openSentinel is the Opener for redis+sentinel://.
func openSentinel(rawURL string, s Settings) (Topology, error) {
	u, err := parseSentinelURL(rawURL)
	if err = s.complete(u.to, err); err != nil {
		return nil, err
	}
	return newSentinel(u, s), nil
}

func newSentinel(u sentinelURL, s Settings) *Sentinel {
	t := &Sentinel{u: u, s: s, news: make(chan struct{}, 1), nodesAt: map[string]*redisconn.Target{}, lookAtLeast: lookAtLeast}
	t.life, t.end = context.WithCancel(context.Background())
	for _, addr := range u.sentinels {
		t.sentinels = append(t.sentinels, newSentinelNode(t, sentinelAddr{addr: addr}, true))
	}
	t.begin(s, NodeOptions{Name: u.String(), Dial: t.dial, Options: pipeline.Options{Stays: t.stays, Known: t.replicas, Replaced: t.changed}})
	return t
}
