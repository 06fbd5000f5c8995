package topology_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/internal/topology"
)

func TestWaitersOfAClusterHearBothKinds(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	for name, row := range map[string]struct {
		set  luasrc.Arg
		want string
	}{
		"both":    {nil, luasrc.Both},
		"sharded": {luasrc.SPublish, luasrc.SPublish},
		"plain":   {luasrc.Publish, luasrc.Publish},
	} {
		t.Run(name, func(t *testing.T) {
			g := openCluster(t, c, func(s *topology.Settings) { s.Publish = row.set })
			key := keyOn(2)
			g.answered(key, "SET", 1)
			if got := g.top.Publish(codec.Slot(key)); got != row.want {
				t.Errorf("it publishes by %v", got)
			}
			l := make(listener, 10)
			defer l.listen(t, g.top, codec.Slot(key), codec.Channel(key))()
			for i, command := range []string{"SPUBLISH", "PUBLISH"} {
				if _, err := c.Conn(2).Do(command, codec.Channel(key), i); err != nil {
					t.Fatal(err)
				}
				l.want(t, fmt.Sprint("message ", i))
			}
			l.silent(t)
			if n := g.ours(2); n != 2 {
				t.Errorf("%d connections, want one for commands and one for subscriptions", n)
			}
		})
	}
}

// A release that is published by both kinds of message is heard once. Two releases are heard twice.
func TestMessageThatIsPublishedTwiceIsHeardOnce(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	g := openCluster(t, c, nil)
	key := keyOn(2)
	g.answered(key, "SET", 1)
	l := make(listener, 10)
	defer l.listen(t, g.top, codec.Slot(key), codec.Channel(key))()
	const both = "redis.call('spublish', KEYS[1], ARGV[1]); return redis.call('publish', KEYS[1], ARGV[1])"
	twice := 0
	for i := range 100 {
		if _, err := c.Conn(2).Do("EVAL", both, 1, codec.Channel(key), i); err != nil {
			t.Fatal(err)
		}
		l.want(t, fmt.Sprint("message ", i))
		if _, err := c.Conn(2).Do("PUBLISH", codec.Channel(key), "end"); err != nil {
			t.Fatal(err)
		}
		for got := ""; got != "message end"; {
			if got = <-l; got == fmt.Sprint("message ", i) {
				twice++
			}
		}
	}
	if twice > 5 { // the two messages may be read separately
		t.Errorf("%d of 100 were heard twice", twice)
	}
	for range 2 {
		for _, command := range []string{"PUBLISH", "SPUBLISH"} { // in the other order they are no pair
			if _, err := c.Conn(2).Do(command, codec.Channel(key), "same"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 3 { // at least three: the two in the middle may be a pair
		l.want(t, "message same")
	}
}

// The account may not use SPUBLISH. In a script SPUBLISH would be refused after the DEL has run.
func TestAccountThatMayNotPublishToShardsPublishesPlainly(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	for i := range 6 {
		if _, err := c.Conn(i).Do("ACL", "SETUSER", "default", "-spublish"); err != nil {
			t.Fatal(err)
		}
	}
	g := openCluster(t, c, nil)
	key := keyOn(0)
	g.answered(key, "SET", 1)
	if by := g.top.Publish(codec.Slot(key)); by != luasrc.Publish {
		t.Errorf("it publishes by %v", by)
	}
	if subs := g.top.Subscriptions(codec.Slot(key)); len(subs) != 1 || subs[0].Sharded {
		t.Errorf("it listens by %+v", subs)
	}
}

// Nothing is known of the cluster, so the subscription goes to a server of the URL, which has no node yet.
func TestNobodySubscribesToAClusterThatIsClosed(t *testing.T) {
	top, err := topology.Open("redis+cluster://127.0.0.1:1,127.0.0.1:2", topology.Settings{Timeout: time.Second, Clock: clock.System()})
	if err != nil {
		t.Fatal(err)
	}
	top.Close(0)
	defer top.Subscriptions(0)[0].Subscribe("c", &heard{}).Close()
	for _, n := range top.Nodes() {
		if n.Hub.Channels() > 0 {
			t.Errorf("%s is subscribed to, and nobody will close it", n)
			n.Hub.Close()
		}
	}
}
