package simulation

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
)

const recording = "testdata/cluster.txt"

// TestClusterOfTheModelIsLikeTheRecordedOne compares what clients of the model see, in their
// order, with what clients of real servers saw.
func TestClusterOfTheModelIsLikeTheRecordedOne(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			g, _ := modelCluster(t, seed)
			g.play()
			g.likeRecorded()
		})
	}
}

// TestRecordedClusterIsLikeARealOne compares the recording with real servers.
func TestRecordedClusterIsLikeARealOne(t *testing.T) {
	g := realCluster(t)
	g.play()
	if *record {
		if err := os.WriteFile(recording, []byte(strings.Join(g.seen, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	g.likeRecorded()
}

// of returns a hash tag whose slot a server begins with.
func of(server int) string {
	for i := 0; ; i++ {
		if tag := fmt.Sprintf("{%d}", i); min(int(codec.Slot(tag))/5461, 2) == server {
			return tag
		}
	}
}

// play performs all that is recorded. No replica is elected until it says so.
func (g *scene) play() {
	for i := range g.addrs {
		g.stays(i, true)
	}
	g.plannedFailover()
	g.movedSlot()
	g.deletedServer()
	g.killedMaster()
}

const (
	one = "return redis.call('exists', KEYS[1])"
	two = "return {redis.call('exists', KEYS[1]), redis.call('exists', KEYS[2])}"
)

// plannedFailover lets server 3 take over from server 0.
func (g *scene) plannedFailover() {
	g.title("planned failover")
	k := of(0)
	writer, replica, other, listener := g.viewer("writer", 0), g.viewer("writer", 3), g.viewer("writer", 1), g.viewer("listener", 0)
	early, far := g.viewer("listener", 3), g.viewer("listener", 1)
	blocked := g.viewer("blocked", 0)
	listener.listens("SUBSCRIBE", k+"ch")
	listener.listens("SSUBSCRIBE", k+"ch")
	listener.listens("SSUBSCRIBE", k+"ch2")
	early.listens("SSUBSCRIBE", k+"ch")
	far.listens("SUBSCRIBE", k+"ch")
	far.listens("SSUBSCRIBE", k+"ch")
	writer.does("SET", k, 1)
	writer.does("SCRIPT", "LOAD", one)
	writer.does("WAIT", 1, 0)
	replica.does("SET", k, 1)
	replica.does("GET", k)
	replica.does("READONLY")
	replica.does("GET", k)
	replica.does("SET", k, 1)
	replica.does("EVALSHA", strings.Repeat("0", 40), 1, k)
	replica.does("READWRITE")
	replica.does("PUBLISH", k+"ch", "of the replica")
	listener.hears(1)
	far.hears(1)
	other.does("SET", k, 1)
	_ = blocked.conn.Send("SET", k, 2)
	_ = blocked.conn.Send("WAIT", 2, 0)
	_ = blocked.conn.Send("SET", k, 3)
	blocked.conn.Flush()
	blocked.hears(1)
	replica.does("CLUSTER", "FAILOVER")
	writer.until("OK", "MOVED", "SET", k, 4)
	replica.until("MOVED", "OK", "SET", k, 5)
	other.until("server 0", "server 3", "SET", k, 6)
	blocked.hears(2)
	listener.hears(2)
	listener.silent()
	writer.does("EVALSHA", strings.Repeat("0", 40), 1, k)
	replica.does("EVAL", "return redis.call('get', KEYS[1])", 1, k)
	replica.does("EVALSHA", "3f75b4bc2e8b4b4a0e4f0cbb2d2e6a8b1ee0c6c5", 1, k)
	writer.does("READONLY")
	g.becomes("the former master has its copy", func() bool { return writer.ask([]any{"GET", k}) == `"5"` })
	writer.does("SET", k, 7)
	replica.does("SPUBLISH", k+"ch", "of the new master")
	early.hears(1)
	replica.does("PUBLISH", k+"ch", "of the new master")
	listener.hears(1) // behind the other message, which must not reach server 0 when somebody listens again
	far.hears(1)
	early.silent()
	listener.silent()
	far.silent()
	g.becomes("the new master knows its replica", func() bool { return replica.knows(0, "slave") })
	again := g.viewer("listener again", 0)
	again.listens("SSUBSCRIBE", k+"ch")
	replica.does("SPUBLISH", k+"ch", "once more")
	again.hears(1)
	early.hears(1)
	writer.does("PING")
}

// movedSlot moves a slot from server 1 to server 2, key by key.
func (g *scene) movedSlot() {
	k := of(1)
	slot := codec.Slot(k)
	source, target, third := g.viewer("source", 1), g.viewer("target", 2), g.viewer("third", 3)
	replica := g.viewer("replica", 4)
	plain, sharded, ofReplica := g.viewer("plain listener", 1), g.viewer("sharded listener", 1), g.viewer("sharded listener", 4)
	look := func(title string) {
		g.title(title)
		for _, v := range []*viewer{source, target, third} {
			for _, asking := range []bool{false, true} {
				if asking && v == third {
					continue
				}
				for _, args := range [][]any{
					{"GET", k + "a"}, {"GET", k + "b"}, {"EVAL", one, 1, k + "c"}, {"EVAL", two, 2, k + "a", k + "b"}, {"EVAL", two, 2, k + "c", k + "d"},
					{"EVAL", two, 2, k + "a", k + "new"}, {"EVAL", two, 2, k + "new", k + "new"}, {"EVAL", "return redis.call('incr', KEYS[1])", 1, k + "new"}, {"DEL", k + "new"},
					{"EVALSHA", strings.Repeat("0", 40), 1, k + "a"}, {"EVALSHA", strings.Repeat("0", 40), 1, k + "new"}, {"SPUBLISH", k + "quiet", "m"}, {"DEL", k + "none", of(2)},
					{"EVAL", "return redis.call('get', ARGV[1])", 0, k + "a"}, {"EVAL", "return redis.call('get', ARGV[1])", 0, of(0)},
					{"EVAL", "redis.call('get', KEYS[1]) return redis.call('spublish', ARGV[1], 'x')", 1, k + "a", k + "quiet"},
					{"EVAL", "return redis.call('spublish', ARGV[1], 'x')", 0, of(0)}, {"SCRIPT", "LOAD", "return 1"}, {"SUNSUBSCRIBE", k + "quiet"},
				} {
					if asking {
						if _, err := v.conn.Do("ASKING"); err != nil {
							g.Fatal(err)
						}
						v.note("asks " + asked(args) + " -> " + v.ask(args))
					} else {
						v.does(args...)
					}
				}
			}
		}
		source.does("PUBLISH", k+"ch", title)
		plain.hears(1)
		source.does("CLUSTER", "COUNTKEYSINSLOT", slot)
		target.does("CLUSTER", "COUNTKEYSINSLOT", slot)
	}
	plain.listens("SUBSCRIBE", k+"ch")
	sharded.listens("SSUBSCRIBE", k+"ch")
	ofReplica.listens("SSUBSCRIBE", k+"ch")
	for _, key := range []string{"a", "b", "c", "d"} {
		if _, err := source.conn.Do("SET", k+key, 1); err != nil {
			g.Fatal(err)
		}
	}
	look("a slot before its move")
	for _, v := range []*viewer{source, target} {
		v.does("SELECT", 0)
		v.does("SELECT", 1)
		v.does("CLUSTER", "SETSLOT", slot, "MIGRATING", strings.Repeat("0", 40))
		v.does("CLUSTER", "KEYSLOT", k)
	}
	target.does("CLUSTER", "SETSLOT", slot, "IMPORTING", g.ids[1])
	source.does("CLUSTER", "SETSLOT", slot, "MIGRATING", g.ids[2])
	look("no key has moved")
	host, port, _ := strings.Cut(g.addrs[2], ":")
	moves := func(key string) {
		v, err := source.conn.Do("MIGRATE", host, port, "", 0, 5000, "KEYS", k+key)
		source.note("migrates " + key + " -> " + show(v, err))
	}
	moves("a")
	moves("c")
	moves("none")
	look("two keys have moved")
	source.does("CLUSTER", "SETSLOT", slot, "NODE", g.ids[2])
	replica.does("READONLY")
	g.becomes("the replica has what its master has", func() bool { return replica.ask([]any{"GET", k + "a"}) == "nil" })
	replica.does("GET", k+"b")
	moves("b")
	moves("d")
	look("all keys have moved")
	sharded.silent()
	source.does("SPUBLISH", k+"ch", "half")
	sharded.hears(1)
	ofReplica.hears(1)
	target.does("SPUBLISH", k+"ch", "half")
	target.does("CLUSTER", "SETSLOT", slot, "NODE", g.ids[2])
	source.does("CLUSTER", "SETSLOT", slot, "NODE", g.ids[2])
	third.until("server 1", "server 2", "GET", k+"a")
	sharded.hears(1)
	ofReplica.hears(1)
	look("the slot has moved")
	ofReplica.silent()
	sharded.listens("SSUBSCRIBE", of(1)+"ch")
	target.does("SPUBLISH", k+"ch", "whole")
	target.does("PUBLISH", k+"ch", "whole")
	plain.hears(1)
}

// deletedServer takes server 4 out of the cluster, and back in.
func (g *scene) deletedServer() {
	g.title("deleted server")
	k := of(1)
	left := g.viewer("client", 4)
	left.does("CLUSTER", "FORGET", g.ids[1])
	left.does("CLUSTER", "FORGET", g.ids[4])
	left.does("CLUSTER", "FORGET", strings.Repeat("0", 40))
	for i := range g.addrs {
		if i != 4 {
			g.viewer("operator", i).does("CLUSTER", "FORGET", g.ids[4])
		}
	}
	left.does("CLUSTER", "RESET")
	left.does("CLUSTER", "SLOTS")
	left.does("GET", k)
	left.does("EVALSHA", strings.Repeat("0", 40), 1, k)
	left.does("PUBLISH", k+"ch", "alone")
	left.does("SPUBLISH", k+"ch", "alone")
	left.does("CLUSTER", "COUNTKEYSINSLOT", codec.Slot(k))
	role, _ := redis.Strings(left.conn.Do("ROLE"))
	left.note(fmt.Sprint("ROLE -> ", role[:min(1, len(role))]))
	left.does("CLUSTER", "SETSLOT", codec.Slot(k), "MIGRATING", g.ids[1])
	left.does("CLUSTER", "FAILOVER")
	info, _ := redis.String(left.conn.Do("CLUSTER", "INFO"))
	for line := range strings.Lines(info) {
		if name, _, _ := strings.Cut(line, ":"); slices.Contains([]string{"cluster_state", "cluster_slots_assigned", "cluster_slots_ok", "cluster_known_nodes", "cluster_size"}, name) {
			left.note("CLUSTER INFO -> " + strings.TrimSpace(line))
		}
	}
	again := g.viewer("operator", 4)
	host, port, _ := strings.Cut(g.addrs[1], ":")
	_, err := again.conn.Do("CLUSTER", "MEET", host, port)
	again.note("meets server 1 -> " + show(nil, err))
	g.becomes("it knows its master's slots", func() bool {
		return strings.Contains(left.ask([]any{"GET", k}), "MOVED")
	})
	again.does("CLUSTER", "REPLICATE", strings.Repeat("0", 40))
	again.does("CLUSTER", "REPLICATE", g.ids[4])
	again.does("CLUSTER", "REPLICATE", g.ids[1])
	g.becomes("it follows again", func() bool {
		role, _ := redis.Values(left.conn.Do("ROLE"))
		return len(role) > 3 && show(role[3], nil) == `"connected"`
	})
}

// killedMaster kills server 2. Server 5 is elected, and server 2 comes back.
func (g *scene) killedMaster() {
	k, own := of(2), of(0)
	g.title("killed master")
	listener, early, far := g.viewer("listener", 2), g.viewer("listener", 5), g.viewer("listener", 1)
	listener.listens("SUBSCRIBE", k+"ch")
	early.listens("SSUBSCRIBE", k+"ch")
	far.listens("SUBSCRIBE", k+"ch")
	viewers := []*viewer{g.viewer("client", 1), g.viewer("client", 3), g.viewer("client", 5), g.viewer("client", 0)}
	victim := g.viewer("client", 2)
	victim.does("SET", k, 1)
	victim.does("WAIT", 1, 0)
	for _, v := range viewers {
		v.does("SET", k, 2)
	}
	g.kill(2)
	v, err := victim.conn.Do("GET", k)
	if victim.note("GET -> an answer: " + fmt.Sprint(err == nil)); err == nil {
		g.Errorf("a dead server answers %v", v)
	}
	for _, v := range viewers {
		v.until("server 2", "CLUSTERDOWN", "SET", k, 3)
		v.does("GET", own)
		v.does("EVAL", "return redis.call('get', ARGV[1])", 0, own)
		v.does("SPUBLISH", own+"ch", "down")
		v.does("PUBLISH", own+"ch", "down")
	}
	viewers[2].does("READONLY")
	viewers[2].does("GET", k)
	viewers[2].does("READWRITE")
	g.stays(5, false)
	viewers[2].until("CLUSTERDOWN", "OK", "SET", k, 4)
	for _, v := range []*viewer{viewers[0], viewers[1], viewers[3]} {
		v.until("CLUSTERDOWN", "server 5", "SET", k, 5)
	}
	viewers[1].does("SET", own, 6)
	viewers[2].does("SPUBLISH", k+"ch", "elected")
	early.hears(1)
	viewers[2].does("PUBLISH", k+"ch", "elected")
	far.hears(1)
	g.start(2)
	g.becomes("the former master answers", func() bool {
		conn, err := g.dial(2)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	back := g.viewer("back", 2)
	g.becomes("the former master follows", func() bool { return strings.Contains(back.ask([]any{"SET", k, 7}), "MOVED") })
	back.does("SET", k, 7)
	back.does("READONLY")
	g.becomes("it has its copy", func() bool { return back.ask([]any{"GET", k}) == `"4"` })
	back.does("GET", k)
}

// likeRecorded compares what was seen with the recording.
func (g *scene) likeRecorded() {
	g.Helper()
	text, err := os.ReadFile(recording)
	if err != nil {
		g.Fatal(err)
	}
	g.like("recorded", strings.Split(strings.TrimSpace(string(text)), "\n"))
}
