package faults

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// A hosted service has one address for its master. When it puts another server there, connections that exist stay with
// the old one, unless that is gone, and nobody tells the client.

// departure is what becomes of the old master once its replica has been promoted, before the address moves.
type departure struct {
	leaves  func(r *round, old *redisserver.LocalServer, direct redis.Conn, promoted string)
	returns func(r *round, old *redisserver.LocalServer) // so far that it can be told whom to follow
}

// demoted stays alive and follows the new master. In every second round it refuses what was sent meanwhile; else that has
// no answer, and the connections that had nothing under way, those of the subscriptions, go on.
var demoted = departure{
	leaves: func(r *round, _ *redisserver.LocalServer, direct redis.Conn, promoted string) {
		host, port, _ := net.SplitHostPort(promoted)
		testbed.Do(r.T, direct, "REPLICAOF", host, port)
		if r.variant(2) == 0 {
			testbed.Do(r.T, direct, "CLIENT", "UNPAUSE")
		}
	},
	returns: func(*round, *redisserver.LocalServer) {},
}

// killed takes its connections with it.
var killed = departure{
	leaves:  func(_ *round, old *redisserver.LocalServer, _ redis.Conn, _ string) { old.Kill() },
	returns: func(_ *round, old *redisserver.LocalServer) { old.Restart() },
}

// paused keeps its connections and says nothing.
var paused = departure{
	leaves:  func(_ *round, old *redisserver.LocalServer, _ redis.Conn, _ string) { old.Pause() },
	returns: func(_ *round, old *redisserver.LocalServer) { old.Resume() },
}

// unmoved stays a master that takes writes.
var unmoved = departure{
	leaves: func(r *round, _ *redisserver.LocalServer, direct redis.Conn, _ string) {
		testbed.Do(r.T, direct, "CLIENT", "UNPAUSE")
	},
	returns: func(*round, *redisserver.LocalServer) {},
}

// promote has the replica take over all that the master has, but the keys that it is to lack as if they had not reached
// it. What is sent while the master takes no more writes is left to the departure. The address is yet to move.
func (r *round) promote(d departure, lacks []string, meanwhile func()) {
	r.Helper()
	old, next := r.server, r.replica
	direct := r.direct
	testbed.Do(r.T, direct, "CLIENT", "PAUSE", time.Minute.Milliseconds(), "WRITE")
	meanwhile()
	r.direct = testbed.Dial(r.T, next)
	if !testbed.Within(soon, func() bool {
		return info(r, direct, "master_repl_offset") == info(r, r.direct, "slave_repl_offset") && info(r, r.direct, "master_link_status") == "up"
	}) {
		r.Fatal("the replica does not catch up")
	}
	testbed.Do(r.T, r.direct, "REPLICAOF", "NO", "ONE")
	for _, name := range lacks {
		if n := testbed.Do(r.T, r.direct, "DEL", name); n != int64(1) {
			r.Fatalf("%s did not reach the replica", name)
		}
	}
	d.leaves(r, old, direct, next.Addr())
	direct.Close()
	r.site.server, r.site.replica = next, old
}

func info(r *round, c redis.Conn, field string) string {
	r.Helper()
	text, _ := redis.String(testbed.Do(r.T, c, "INFO", "replication"), nil)
	_, rest, _ := strings.Cut(text, "\n"+field+":")
	value, _, _ := strings.Cut(rest, "\r")
	return value
}

// follow makes the old master the replica of the new one, for the next round, and sees that no client is left there.
func (r *round) follow(d departure) {
	r.Helper()
	d.returns(r, r.replica)
	c := testbed.Dial(r.T, r.replica)
	defer c.Close()
	host, port, _ := net.SplitHostPort(r.server.Addr())
	testbed.Do(r.T, c, "REPLICAOF", host, port)
	testbed.Do(r.T, c, "CLIENT", "UNPAUSE")
	if !testbed.Within(soon, func() bool { return len(testbed.Clients(r.T, c)) == 0 }) {
		r.violates("connections stay with the old master:\n%s", strings.Join(testbed.Clients(r.T, c), "\n"))
	}
	testbed.Do(r.T, r.direct, "CONFIG", "SET", "repl-diskless-sync-delay", 0)
	if !testbed.Within(3*soon, func() bool { return info(r, c, "master_link_status") == "up" }) {
		r.Fatal("the old master does not follow")
	}
}

// movesTo has the address lead to the promoted replica, and returns when it does.
func (r *round) movesTo(d departure, lacks []string, meanwhile func()) time.Time {
	r.Helper()
	look := r.auditor.rests()
	defer func() { look(r.server.URL()) }() // also if this fails: the auditor is to end
	r.promote(d, lacks, meanwhile)
	r.proxy.Move(r.server.Addr())
	return time.Now()
}

// nameIt gives the lane's address a name, and has a second proxy at the address that the name is to move to.
func (l *lane) nameIt(addr string) string {
	l.Helper()
	_, port, _ := net.SplitHostPort(addr)
	l.second = faultproxy.StartAt(l.T, net.JoinHostPort("127.0.0.2", port), l.replica.Addr())
	l.host = fmt.Sprintf("lane-%d.moves.test", l.number)
	names.set(l.host, "127.0.0.1")
	return net.JoinHostPort(l.host, port)
}

// afresh gives the lane new clients.
func (l *lane) afresh() {
	l.Helper()
	_, port, _ := net.SplitHostPort(l.proxy.Addr())
	for _, c := range []**rlock.Client{&l.client, &l.rival} {
		(*c).Close()
		*c = l.open(net.JoinHostPort(l.host, port), true)
	}
}
