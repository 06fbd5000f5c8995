package security

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// Additions of the page, by the index of their rows.
const (
	forReplicas = 1
	forCourtesy = 3
	forClusters = 10
)

// grantAt makes the account on a server: accounts are not replicated.
func grantAt(t *testing.T, conn redis.Conn, a account) {
	t.Helper()
	testbed.Do(t, conn, "ACL", redis.Args{"SETUSER", a.name}.AddFlat(a.rules)...)
}

// deniedTo lists what servers refused an account, or any if user is empty.
func deniedTo(t *testing.T, user string, servers []redis.Conn) (all []string) {
	t.Helper()
	for _, conn := range servers {
		entries, err := redis.Values(conn.Do("ACL", "LOG"))
		testbed.Must(t, err)
		for _, e := range entries {
			list, _ := redis.Values(e, nil)
			fields := map[string]string{}
			for i := 0; i+1 < len(list); i += 2 {
				key, _ := redis.String(list[i], nil)
				fields[key], _ = redis.String(list[i+1], nil)
			}
			if user == "" || fields["username"] == user {
				all = append(all, fields["reason"]+" "+fields["object"])
			}
		}
	}
	return all
}

// by puts an account into a URL of several servers.
func by(rawURL string, a account) string {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	return scheme + "://" + url.UserPassword(a.name, a.password).String() + "@" + rest
}

// wake has two clients hand each lock over by a message.
func wake(ctx context.Context, url string, names []string, listens func(name string) int) error {
	var clients [2]*rlock.Client
	for i := range clients {
		c, err := rlock.Open(ctx, url, options...)
		if err != nil {
			return err
		}
		defer c.Close()
		clients[i] = c
	}
	for _, name := range names {
		if err := handOver(ctx, clients[0].NewLock(name), clients[1].NewLock(name), func() int { return listens(name) }); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// listeners counts a server's subscribers for a lock; -1 if the server does not tell.
func listeners(conn redis.Conn, command, name string) int {
	reply, err := redis.Values(conn.Do("PUBSUB", command, codec.Channel(name)))
	if err != nil || len(reply) != 2 {
		return -1
	}
	n, _ := redis.Int(reply[1], nil)
	return n
}

// accountCluster is a cluster with a slot that migrates for ever, so that commands
// for it are redirected by ASK.
type accountCluster struct {
	*topologytest.Cluster
	slots   [3][]uint16 // of each master
	asked   string
	masters []redis.Conn
	servers []redis.Conn // the masters and their replicas: any of them may be asked for the map
}

func startAccountCluster(t *testing.T) *accountCluster {
	c := &accountCluster{Cluster: topologytest.StartReplicated(t, 1, 1, 1), asked: "orders:asked"}
	from := 0
	for i := range 3 {
		c.masters = append(c.masters, c.Conn(i))
		c.slots[i] = c.Slots(i)
		if slices.Contains(c.slots[i], codec.Slot(c.asked)) {
			from = i
		}
	}
	c.Begin(codec.Slot(c.asked), from, (from+1)%3)
	for i := range c.Servers {
		c.servers = append(c.servers, c.Conn(i))
	}
	return c
}

// names returns new names, one of each master.
func (c *accountCluster) names() (names []string) {
	for _, slots := range c.slots {
		for {
			if name := "orders:" + unique(); slices.Contains(slots, codec.Slot(name)) {
				names = append(names, name)
				break
			}
		}
	}
	return names
}

// use does what an account must be able to do in a cluster, but not on one server.
func (c *accountCluster) use(ctx context.Context, a account) error {
	u, names := by(c.ClusterURL(), a), c.names()
	if err := wake(ctx, u, names, func(name string) int {
		return listeners(c.masters[slices.Index(names, name)], "SHARDNUMSUB", name)
	}); err != nil {
		return err
	}
	client, err := rlock.Open(ctx, u, options...)
	if err != nil {
		return err
	}
	defer client.Close()
	_, err = client.NewLock(c.asked).TryLock(ctx, rlock.Lease(time.Second))
	if errors.Is(err, rlock.ErrLocked) {
		return nil // it was redirected, too
	}
	return err
}

func TestDocumentedAccountInACluster(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	c := startAccountCluster(t)
	grant := func(a account) {
		t.Helper()
		for _, server := range c.servers {
			grantAt(t, server, a)
		}
	}
	enough := d.fenced.with(d.additions[forClusters]...)
	grant(enough)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := c.use(ctx, enough); err != nil {
		t.Error(err)
	}
	if denied := deniedTo(t, enough.name, c.servers); len(denied) != 0 {
		t.Errorf("denied: %q", denied)
	}
	for i, rule := range d.additions[forClusters] {
		a := enough.without(rule)
		a.name = fmt.Sprint("worker", i)
		grant(a)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := c.use(ctx, a)
		cancel()
		denied := deniedTo(t, a.name, c.servers)
		if err == nil && len(denied) == 0 {
			t.Errorf("nothing misses %s", rule)
		}
		t.Logf("without %s: %v, denied %q", rule, err, denied)
	}

	// To leave room for slower clients, a client counts both kinds of subscribers.
	counts := enough.with(d.additions[forCourtesy]...).with("+pubsub|shardnumsub")
	counts.name = "counts"
	grant(counts)
	hot := testbed.Open(t, by(c.ClusterURL(), counts), options...).NewLock(c.names()[0])
	testbed.Must(t, heats(t.Context(), hot, func() bool { return topologytest.Calls(t, c.masters[0], "pubsub|shardnumsub") > 0 }))
	if denied := deniedTo(t, counts.name, c.servers); len(denied) != 0 {
		t.Errorf("denied: %q", denied)
	}
}

// The account follows a change of roles. Without one of the page's rules something is denied.
func TestDocumentedAccountOfAReplicatedSet(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	set := redistest.StartReplicated(t, 1)
	var nodes []redis.Conn
	for _, n := range set.Nodes {
		nodes = append(nodes, n.Dial(t))
	}
	grant := func(a account) {
		t.Helper()
		for _, n := range nodes {
			grantAt(t, n, a)
		}
	}
	use := func(a account, master int) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return wake(ctx, by(set.URL(), a), []string{"orders:" + unique()}, func(name string) int { return listeners(nodes[master], "NUMSUB", name) })
	}
	enough := d.fenced.with(d.replicated...)
	grant(enough)
	testbed.Must(t, use(enough, 0))
	if topologytest.Calls(t, nodes[0], "wait") == 0 {
		t.Error("no replica was waited for")
	}
	set.Swap(set.Nodes[0], set.Nodes[1])
	for i, n := range set.Nodes {
		nodes[i] = n.Dial(t) // a master that is demoted ends its connections
	}
	testbed.Must(t, use(enough, 1))
	if denied := deniedTo(t, enough.name, nodes); len(denied) != 0 {
		t.Errorf("denied: %q", denied)
	}
	for i, rule := range d.replicated {
		a := enough.without(rule)
		a.name = fmt.Sprint("worker", i)
		grant(a)
		err := use(a, 1)
		denied := deniedTo(t, a.name, nodes)
		if len(denied) == 0 {
			t.Errorf("nothing misses %s", rule)
		}
		t.Logf("without %s: %v, denied %q", rule, err, denied)
	}
}

func TestDocumentedAccountBehindSentinels(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	a := d.fenced.with(d.additions[forReplicas]...)
	for _, n := range set.Nodes {
		grantAt(t, n.Dial(t), a)
	}
	use := func() {
		t.Helper()
		former := set.Master().Dial(t)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := wake(ctx, by(set.URL(), a), []string{"orders:1"}, func(name string) int { return listeners(former, "NUMSUB", name) }); err != nil {
			t.Error(err)
		}
	}
	use()
	if topologytest.Calls(t, set.Master().Dial(t), "wait") == 0 {
		t.Error("no replica was waited for")
	}
	former := set.Master()
	set.Failover(set.Sentinels[0])
	set.AwaitMaster(former)
	redistest.Becomes(t, "the former master follows", func() bool { // until then no replica acknowledges anything
		conn := former.Dial(t)
		defer conn.Close()
		info, err := redis.String(conn.Do("INFO", "replication"))
		return err == nil && strings.Contains(info, "master_link_status:up")
	})
	use()
	var nodes []redis.Conn
	for _, n := range set.Nodes {
		nodes = append(nodes, n.Dial(t)) // a master that is demoted ends its connections
	}
	if denied := deniedTo(t, a.name, nodes); len(denied) != 0 {
		t.Errorf("denied: %q", denied)
	}
}
