package topology

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/rlock-go/redisson/internal/pipeline"
)

// sentinelScheme is the scheme of a URL that names a master and its Sentinels.
const sentinelScheme = "redis+sentinel"

// parseSentinelURL reads redis+sentinel://[user:password@]host[:port],…/name[/db].
func parseSentinelURL(raw string) (p Parts, err error) {
	p, more, err := parseSeveral(raw, "26379")
	if err != nil {
		return p, err
	}
	name, db, _ := strings.Cut(more, "/")
	if p.Master, err = url.PathUnescape(name); err != nil {
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

// nameable has the characters that a Sentinel accepts in a master's name.
const nameable = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

// shown names the servers, the Sentinels' master and the database, without secrets.
func (p Parts) shown() string {
	s := strings.Join(p.Servers, ",")
	if p.Master != "" {
		s += "/" + p.Master
	}
	if p.Target.Database != 0 {
		s += fmt.Sprintf("/%d", p.Target.Database)
	}
	return s
}

func newSentinel(p Parts, s Settings) *Sentinel {
	t := &Sentinel{oneMaster: oneMaster{s: s, to: p.Target}, u: p, news: make(chan struct{}, 1), lookAtLeast: lookAtLeast}
	for _, addr := range p.Servers {
		t.sentinels = append(t.sentinels, newSentinelNode(t, sentinelAddr{addr: addr}, true))
	}
	t.begin(s, NodeOptions{Name: p.shown(), Dial: t.dial, Node: pipeline.Node{Stays: t.stays}, Known: t.replicas, Moved: t.changed})
	return t
}
