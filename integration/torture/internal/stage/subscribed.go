package stage

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/gomodule/redigo/redis"
)

// staysSubscribed notes what is no failure: a wait of Redisson's that ends before its subscription is confirmed leaves it
// for as long as the JVM lives (javapeer has a test).
const staysSubscribed = "note: Redisson stays subscribed where nobody waits: %v"

// sentinelsOwn is where Sentinels tell one another of themselves.
const sentinelsOwn = "__sentinel__:hello"

// channels are those, but for the Sentinels' own, that somebody is subscribed to: a Go client or nobody knows who, and a JVM alone.
func (s *Stage) channels() (others, java error) { return subscribed("the server", s.ask, "CHANNELS") }

// channelsOfSet are the channels of all servers.
func (s *Stage) channelsOfSet() (others, java error) {
	for _, n := range s.set.nodes {
		ask := func(command string, args ...any) (any, error) { return do(n, command, args...) }
		o, j := subscribed(n.Addr(), ask, "CHANNELS", "SHARDCHANNELS")
		others, java = errors.Join(others, o), errors.Join(java, j)
	}
	return others, java
}

// listening finds the names of connections with a subscription.
var listening = regexp.MustCompile(`(?m)^.* name=(\S*) .* s?sub=[1-9]`)

// subscribed asks one server. Whoever has the name rlock is a Go client, and a Sentinel has a name as well; a JVM has none.
func subscribed(where string, ask func(string, ...any) (any, error), lists ...string) (others, java error) {
	var names []string
	for _, list := range lists {
		left, err := redis.Strings(ask("PUBSUB", list))
		if err != nil {
			return err, nil
		}
		for _, name := range left {
			if name != sentinelsOwn {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	clients, err := redis.String(ask("CLIENT", "LIST", "TYPE", "PUBSUB"))
	if err != nil {
		return err, nil
	}
	left := fmt.Errorf("%q at %s, of these connections:\n%s", names, where, clients)
	unnamed := 0
	for _, listens := range listening.FindAllStringSubmatch(clients, -1) {
		switch name := listens[1]; {
		case name == "":
			unnamed++
		case !strings.HasPrefix(name, "sentinel-"):
			return left, nil
		}
	}
	if unnamed == 0 {
		return left, nil
	}
	return nil, left
}
