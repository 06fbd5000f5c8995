package wire

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// Topology is how several servers belong together.
type Topology string

const (
	// Replicated is one master with one replica, each known by its address.
	Replicated Topology = "replicas"
	// Sentinel is one master with two replicas, found by three Sentinels.
	Sentinel Topology = "sentinel"
	// Cluster is three masters with a replica each.
	Cluster Topology = "cluster"
)

var Topologies = []Topology{Replicated, Sentinel, Cluster}

// Place has the servers of a topology, each with a tap, and behind a proxy by whose address all others know it. It can be
// used by one proof after the other.
type Place struct {
	topology  Topology
	sharded   bool // the servers know messages to one shard
	nodes     []*redistest.Server
	conns     []redis.Conn // one per node, with all rights
	masters   []int
	home      int // the master of lockName
	proxies   []*faultproxy.Proxy
	taps      []*monitor.Stream
	sentinels string // their addresses
}

// StartPlace starts a topology's servers. They end with t.
func StartPlace(t *testing.T, topology Topology) *Place {
	t.Helper()
	p := &Place{topology: topology}
	switch topology {
	case Replicated:
		p.startReplicated(t)
	case Sentinel:
		set := redistest.StartSentinelsBehind(t, redistest.SentinelPasswords{}, p.before(t))
		p.sentinels, p.masters = set.Addrs(), []int{0}
	case Cluster:
		p.startCluster(t)
	default:
		t.Fatalf("wire: there is no topology %q", topology)
	}
	for _, n := range p.nodes {
		p.conns = append(p.conns, n.Dial(t))
		p.taps = append(p.taps, monitor.Tap(t, n.Addr()))
	}
	if topology == Cluster {
		p.home = p.masterOf(lockName)
		_, err := p.conns[p.home].Do("PUBSUB", "SHARDCHANNELS") // unknown before Redis 7
		p.sharded = err == nil
	}
	return p
}

// before returns a function for the address of the proxy before a node, which it starts if there is none.
func (p *Place) before(t *testing.T) func(*redistest.Server) string {
	return func(n *redistest.Server) string {
		i := slices.Index(p.nodes, n)
		if i < 0 {
			i = len(p.nodes)
			p.nodes = append(p.nodes, n)
			p.proxies = append(p.proxies, faultproxy.Start(t, n.Addr()))
		}
		return p.proxies[i].Addr()
	}
}

func (p *Place) startReplicated(t *testing.T) {
	t.Helper()
	master := redisserver.Local(t)
	before := p.before(t)
	before(master.Server)
	before(redisserver.Replica(t, master).Server)
	p.masters = []int{0}
}

func (p *Place) startCluster(t *testing.T) {
	t.Helper()
	front := func(int) redistest.Front {
		proxy := faultproxy.Start(t, "")
		p.proxies = append(p.proxies, proxy)
		_, port, _ := net.SplitHostPort(proxy.Addr())
		return redistest.Front{Args: []string{"--cluster-announce-port", port}, Lead: proxy.Move}
	}
	p.masters = []int{0, 1, 2}
	p.nodes = topologytest.StartReplicatedFronted(t, 0, front, 1, 1, 1).Servers
}

// masterOf is the number of the node that has a key.
func (p *Place) masterOf(key string) int {
	if p.topology != Cluster {
		return 0
	}
	return min(int(codec.Slot(key))/(16384/len(p.masters)), len(p.masters)-1)
}

// rig returns a rig that watches the place for t.
func (p *Place) rig(t *testing.T) *rig {
	t.Helper()
	r := &rig{Rig: testbed.New(t, redisserver.Given(t, p.nodes[p.home].URL())), place: p, taps: p.taps}
	r.subscribe()
	return r
}

// options are those that Go's clients need for the place.
func (p *Place) options(publish rlock.Publish) []rlock.Option {
	switch p.topology {
	case Replicated:
		return []rlock.Option{rlock.WithReplicaSync(true)}
	case Cluster:
		return []rlock.Option{rlock.WithClusterPublish(publish)}
	}
	return nil
}

// url is where a side finds the servers.
func (p *Place) url(who side) string {
	var addrs []string
	for _, proxy := range p.proxies {
		addrs = append(addrs, proxy.Addr())
	}
	switch {
	case p.topology == Cluster:
		return "redis+cluster://" + strings.Join(addrs, ",")
	case p.topology == Sentinel:
		return "redis+sentinel://" + p.sentinels + "/" + redistest.MasterName
	case who == javas:
		return "redis+replicas://" + strings.Join(addrs, ",")
	}
	return "redis://" + addrs[0]
}

// failsOver reports whether another server may become the master.

// side is one of the two that play.
type side int

const (
	javas side = iota
	gos
)

// has reports whether a connection is the side's. Go's has the name rlock; replicas' and Sentinels', which reach a node by
// its proxy, too, are neither side's.
func (s side) has(c faultproxy.Conn) bool {
	golang := false
	for _, words := range c.Cmds {
		switch {
		case faultproxy.Command("CLIENT", "SETNAME")(words) && len(words) > 2 && strings.HasPrefix(words[2], "sentinel-"),
			faultproxy.Command("REPLCONF")(words):
			return false
		case faultproxy.Command("CLIENT", "SETNAME", "rlock")(words):
			golang = true
		}
	}
	return golang == (s == gos)
}

// reach returns a side's proxies, and the URL by which it finds them.
func (r *rig) reach(who side) ([]*faultproxy.Proxy, string) {
	r.T.Helper()
	if r.place != nil {
		return r.place.proxies, r.place.url(who)
	}
	proxy := faultproxy.Start(r.T, r.server.Addr())
	return []*faultproxy.Proxy{proxy}, "redis://" + proxy.Addr()
}

// Do asks the server that has the key, which is the first argument. PUBLISH goes to the home server.
func (r *rig) Do(command string, args ...any) any {
	r.T.Helper()
	if r.place == nil || len(args) == 0 {
		return r.Rig.Do(command, args...)
	}
	if command == "PUBLISH" {
		return r.Rig.Do(command, args...)
	}
	return testbed.Do(r.T, r.place.conns[r.place.masterOf(fmt.Sprint(args[0]))], command, args...)
}

// everywhere asks all masters.
func (r *rig) everywhere(command string, args ...any) (replies []any) {
	r.T.Helper()
	if r.place == nil {
		return []any{r.Rig.Do(command, args...)}
	}
	for _, i := range r.place.masters {
		replies = append(replies, testbed.Do(r.T, r.place.conns[i], command, args...))
	}
	return replies
}

// names returns those of all keys, sorted.
func (r *rig) names() (all []string) {
	r.T.Helper()
	for _, reply := range r.everywhere("KEYS", "*") {
		names, err := redis.Strings(reply, nil)
		if err != nil {
			r.T.Fatal(err)
		}
		all = append(all, names...)
	}
	slices.Sort(all)
	return all
}

// setUpOfPlaces matches the commands by which clients learn about the servers: slots, the master, its replicas, whether a
// replica may be read, whether messages to one shard may be published.
var setUpOfPlaces = []faultproxy.Match{
	faultproxy.Command("CLUSTER"),
	faultproxy.Command("INFO"),
	faultproxy.Command("READONLY"),
	faultproxy.Command("SPUBLISH"),
}

// firstTime matches what clients do once, before their first use of a node or of a script there.
var firstTime = []faultproxy.Match{
	faultproxy.Command("SCRIPT", "LOAD"),
	faultproxy.Command("WAIT", "0", "0"),
	faultproxy.Command("WAITAOF", "0", "0", "0"),
}

// key is the name of a scenario's lock. In a cluster, locks that are renewed together have one slot.
func (p *Place) key(sc scenario) string {
	if p != nil && p.topology == Cluster && sc.several && sc.lock == "" {
		return taggedName
	}
	return sc.key()
}

// joinWaits makes a WAIT a part of the script call before it on its connection. Any other WAIT stays.
func joinWaits(events []moment) (out []moment) {
	last := map[int]int{} // by connection, an index of out
	for _, m := range events {
		if i, ok := last[m.conn]; ok && m.is("WAIT") && out[i].wait == "" && out[i].script() {
			out[i].wait = fmt.Sprintf("%s → %v", strings.Join(m.words, " "), m.reply)
			continue
		}
		last[m.conn] = len(out)
		out = append(out, m)
	}
	return out
}

// script reports whether a script was called.
func (c cmd) script() bool { return c.is("EVALSHA") || c.is("EVAL") }
