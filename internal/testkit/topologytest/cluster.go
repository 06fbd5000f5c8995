package topologytest

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// slotCount is the number of hash slots of every cluster.
const slotCount = 16384

// patience bounds waits for what comes at once if all is well.
const patience = 30 * time.Second

// Cluster is a set of real servers that share the slots. Its methods end the test
// where they fail, and must be called from the test's own goroutine.
type Cluster struct {
	t       testing.TB
	Servers []*redistest.Server // includes those that have left
	conns   []redis.Conn
	ids     []string
	masters int                              // how many there were at first
	silence time.Duration                    // after which a server counts as dead
	front   func(server int) redistest.Front // nil: none has one
	addrs   []string                         // where others reach the servers
	buses   []string                         // their cluster bus ports, "" for the usual one
	between []bool                           // a proxy stands between a server and its addr
}

// Start starts servers that know each other, and share the slots in these
// proportions.
func Start(t testing.TB, shares ...int) *Cluster {
	t.Helper()
	return StartFronted(t, nil, shares...)
}

// StartFronted is Start for servers with fronts or additional settings. The test itself
// reaches them without TLS, by their Addr.
func StartFronted(t testing.TB, front func(server int) redistest.Front, shares ...int) *Cluster {
	t.Helper()
	return (&Cluster{t: t, silence: 5 * time.Second, front: front}).startMasters(shares).serves()
}

// startMasters starts servers, shares the slots out and makes the servers meet.
func (c *Cluster) startMasters(shares []int) *Cluster {
	c.t.Helper()
	redistest.Slow(c.t, "servers of a cluster wait for two seconds before they serve")
	c.masters = len(shares)
	n, total, first := len(shares), 0, 0
	for _, share := range shares {
		total += share
	}
	for i, share := range shares {
		c.add()
		last := first + slotCount*share/total - 1
		if i == n-1 {
			last = slotCount - 1
		}
		c.give(i, first, last)
		first = last + 1
		c.do(i, "CLUSTER", "SET-CONFIG-EPOCH", i+1)
	}
	for i := 1; i < n; i++ {
		c.meet(i)
	}
	return c
}

// serves waits until all servers know each other and serve commands.
func (c *Cluster) serves() *Cluster {
	c.t.Helper()
	for i := range c.Servers {
		c.await("every server knows the others", func() bool {
			info := c.text(i, "CLUSTER", "INFO")
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d\r", len(c.Servers))) &&
				strings.Contains(info, "cluster_slots_assigned:16384\r")
		})
	}
	return c
}

// give gives a server a range of slots that no server has.
func (c *Cluster) give(server, first, last int) {
	c.t.Helper()
	var slots redis.Args
	for slot := first; slot <= last; slot++ {
		slots = append(slots, slot)
	}
	// Redis 6.2 has no ADDSLOTSRANGE.
	c.do(server, "CLUSTER", append(redis.Args{"ADDSLOTS"}, slots...)...)
}

// add starts one more server, which knows no other.
func (c *Cluster) add() {
	c.t.Helper()
	var front redistest.Front
	if c.front != nil {
		front = c.front(len(c.Servers))
	}
	s, addr := front.Behind(func(args ...string) *redistest.Server { return redistest.Start(c.t, args...) },
		"--cluster-enabled", "yes", "--cluster-node-timeout", fmt.Sprint(c.silence.Milliseconds()),
		"--cluster-allow-replica-migration", "no", "--repl-diskless-sync-delay", "0",
		"--cluster-config-file", fmt.Sprintf("nodes-%d.conf", len(c.Servers)))
	c.Servers, c.addrs, c.buses = append(c.Servers, s), append(c.addrs, addr), append(c.buses, front.Bus)
	c.between = append(c.between, front.Lead != nil)
	c.conns = append(c.conns, s.Dial(c.t))
	c.t.Cleanup(func() { c.tell(s) })
	c.ids = append(c.ids, c.text(len(c.ids), "CLUSTER", "MYID"))
}

// tell logs what a server knows of the others, and its own log, if the test has failed.
func (c *Cluster) tell(s *redistest.Server) {
	if !c.t.Failed() || s.Pid() == 0 {
		return
	}
	nodes := "it can't be asked"
	if conn, err := redis.Dial("tcp", s.Addr(), redis.DialReadTimeout(time.Second)); err == nil {
		defer conn.Close()
		if text, err := redis.String(conn.Do("CLUSTER", "NODES")); err == nil {
			nodes = text
		}
	}
	c.t.Logf("server %d, at %s, knows:\n%s\nand has logged:\n%s", slices.Index(c.Servers, s), s.Addr(), nodes, s.LastLog(30))
}

// meet makes a server known to those before it. Otherwise they sometimes hear of it seconds later.
func (c *Cluster) meet(server int) {
	c.t.Helper()
	host, port, _ := net.SplitHostPort(c.addrs[server])
	args := redis.Args{"MEET", host, port}
	if c.buses[server] != "" {
		args = args.Add(c.buses[server])
	}
	for i := range server {
		c.do(i, "CLUSTER", args...)
	}
}

// URL returns the URL for clients that use Several.
func (c *Cluster) URL() string {
	return Scheme + "://" + strings.Join(c.addrs, ",")
}

// ID returns a server's node id.
func (c *Cluster) ID(server int) string { return c.ids[server] }

// Conn returns the test's own connection to a server, with all rights.
func (c *Cluster) Conn(server int) redis.Conn { return c.conns[server] }

// Begin starts to move a slot. From now on server from answers ASK for keys that it
// no longer has.
func (c *Cluster) Begin(slot uint16, from, to int) {
	c.t.Helper()
	c.do(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", c.ids[from])
	c.do(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", c.ids[to])
}

// MoveKeys moves up to most keys of a slot after Begin, each with its TTL, and returns
// how many it moved.
func (c *Cluster) MoveKeys(slot uint16, from, to, most int) int {
	c.t.Helper()
	addr := c.addrs[to]
	if c.between[to] {
		// The proxy's faults are for clients, not for the keys.
		addr = c.Servers[to].Addr()
	}
	host, port, _ := net.SplitHostPort(addr)
	keys, err := redis.Strings(c.conns[from].Do("CLUSTER", "GETKEYSINSLOT", slot, most))
	if err != nil {
		c.t.Fatal(err)
	}
	if len(keys) > 0 {
		c.migrate(from, redis.Args{host, port, "", 0, 5000, "KEYS"}.AddFlat(keys))
	}
	return len(keys)
}

// migrate tries for 10 s, since its target may miss the other servers for a moment.
func (c *Cluster) migrate(from int, args []any) {
	c.t.Helper()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		_, err := c.conns[from].Do("MIGRATE", args...)
		if err == nil {
			return
		}
		if time.Since(began) > 10*time.Second {
			c.t.Fatalf("server %d: MIGRATE %.200s: %v", from, fmt.Sprint(args...), err)
		}
	}
}

// End gives a slot to its new server. The slot must be empty on the old one.
func (c *Cluster) End(slot uint16, from, to int) {
	c.t.Helper()
	// The new server claims the slot with an epoch above all that it knows. If it did not know the old server's, the
	// old claim could win, and the keys would be lost.
	old := c.epochs(from)[c.ids[from]]
	c.await("a slot's new server knows the epoch of its old one", func() bool { return c.epochs(to)[c.ids[from]] >= old })
	// The new server first: otherwise each would send commands to the other.
	c.do(to, "CLUSTER", "SETSLOT", slot, "NODE", c.ids[to])
	c.do(from, "CLUSTER", "SETSLOT", slot, "NODE", c.ids[to])
}

// epochs returns the epoch with which each server claims its slots, as the server asked knows them.
func (c *Cluster) epochs(asked int) map[string]int {
	c.t.Helper()
	epochs := map[string]int{}
	for line := range strings.Lines(c.text(asked, "CLUSTER", "NODES")) {
		fields := strings.Fields(line)
		if len(fields) < 8 {
			continue
		}
		epoch, err := strconv.Atoi(fields[6])
		if err != nil {
			c.t.Fatalf("server %d: %s: %v", asked, line, err)
		}
		epochs[fields[0]] = epoch
	}
	return epochs
}

// Move moves slots with their keys.
func (c *Cluster) Move(from, to int, slots ...uint16) {
	c.t.Helper()
	for _, slot := range slots {
		c.Begin(slot, from, to)
		// A key may expire or be released between the two commands. The next round
		// moves a key that was added.
		for c.MoveKeys(slot, from, to, 100) > 0 {
		}
		c.End(slot, from, to)
	}
}

// Leave moves all slots of a server to another, makes the others forget the server, and
// stops it. It stays in Servers.
func (c *Cluster) Leave(server, to int) {
	c.t.Helper()
	c.Move(server, to, c.Slots(server)...)
	for i := range c.Servers {
		if i == to {
			continue
		}
		// A server that does not know yet would send commands to one that is stopped.
		c.await("every server knows that the slots moved", func() bool { return len(c.slotsOf(i, server)) == 0 })
	}
	for i := range c.Servers {
		if i != server {
			c.do(i, "CLUSTER", "FORGET", c.ids[server])
		}
	}
	c.Servers[server].Stop()
}

// Slots returns the slots that a server says it has.
func (c *Cluster) Slots(server int) []uint16 { return c.slotsOf(server, server) }

// Has tells whether a server says that it has a slot.
func (c *Cluster) Has(server int, slot uint16) bool {
	c.t.Helper()
	return slices.Contains(c.Slots(server), slot)
}

// slotsOf returns the slots that server has, as the server asked says.
func (c *Cluster) slotsOf(asked, server int) (slots []uint16) {
	c.t.Helper()
	ranges, err := askSlots(c.conns[asked])
	if err != nil {
		c.t.Fatal(err)
	}
	for _, r := range ranges {
		if r.addr != c.addrs[server] {
			continue
		}
		for slot := int(r.First); slot <= int(r.Last); slot++ {
			slots = append(slots, uint16(slot))
		}
	}
	return slots
}

func (c *Cluster) do(server int, command string, args ...any) any {
	c.t.Helper()
	reply, err := c.conns[server].Do(command, args...)
	if err != nil {
		c.t.Fatalf("server %d: %s %.200s: %v", server, command, fmt.Sprint(args...), err)
	}
	return reply
}

func (c *Cluster) text(server int, command string, args ...any) string {
	c.t.Helper()
	s, err := redis.String(c.do(server, command, args...), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

func (c *Cluster) await(what string, state func() bool) {
	c.t.Helper()
	redistest.Settles(c.t, what, state)
}
