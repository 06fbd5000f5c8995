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

// parseSentinelURL reads redis+sentinel://[user:password@]host[:port],…/name[/db].
// A Sentinel's default port is 26379. Like redisconn.ParseURL, it prints nothing
// that could hold a password.
func parseSentinelURL(raw string) (p Parts, err error) {
	user, hosts, path := cutURL(raw)
	for _, host := range strings.Split(hosts, ",") {
		if host != "" && strings.LastIndex(host, ":") <= strings.LastIndex(host, "]") {
			host += ":26379"
		}
		// The rules for each are those of a single server's URL.
		t, err := redisconn.ParseURL("redis://" + user + host)
		if err != nil {
			return p, err
		}
		p.Target = t
		if !slices.Contains(p.Servers, t.Address) {
			p.Servers = append(p.Servers, t.Address)
		}
	}
	switch {
	case strings.Contains(path, "#"):
		return p, errors.New("url: a fragment (#) has no meaning here; a # in a password is written %23")
	case strings.Contains(path, "?"):
		return p, errors.New("url: a query has no meaning here; settings are options of Open")
	}
	escaped, db, _ := strings.Cut(path, "/")
	if p.Master, err = url.PathUnescape(escaped); err != nil {
		return p, errors.New("url: the master's name is malformed; reserved characters in a password are percent-encoded")
	}
	if p.Master == "" {
		return p, errors.New("url: no master's name after the Sentinels; want redis+sentinel://host:port,host:port/master-name")
	}
	if strings.Trim(p.Master, nameable) != "" {
		return p, errors.New("url: the master's name has characters that no Sentinel takes: it may have letters, digits and .-_")
	}
	if db != "" {
		n, err := strconv.ParseUint(db, 10, 31)
		if err != nil {
			return p, errors.New("url: the database after the master's name is not a number")
		}
		p.Target.Database = int(n)
	}
	return p, nil
}

// nameable is what a Sentinel takes in a master's name.
const nameable = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

// shown is the URL of Sentinels without its secrets, for people.
func (p Parts) shown() string {
	s := strings.Join(p.Servers, ",") + "/" + p.Master
	if p.Target.Database != 0 {
		s += fmt.Sprintf("/%d", p.Target.Database)
	}
	return s
}

func newSentinel(p Parts, s Settings) *Sentinel {
	t := &Sentinel{u: p, s: s, news: make(chan struct{}, 1), lookAtLeast: lookAtLeast}
	t.life, t.end = context.WithCancel(context.Background())
	for _, addr := range p.Servers {
		t.sentinels = append(t.sentinels, newSentinelNode(t, sentinelAddr{addr: addr}, true))
	}
	t.begin(s, NodeOptions{Name: p.shown(), Dial: t.dial, Options: pipeline.Options{Stays: t.stays, Known: t.replicas, Replaced: t.changed}})
	return t
}
