package simulation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// modelled is a cluster of the model, with a session at each server.
type modelled struct {
	*testing.T
	w *simnet.World
	c *simredis.Cluster
}

func inModel(t *testing.T, masters, replicas int, play func(m *modelled)) {
	synctest.Test(t, func(t *testing.T) {
		m := &modelled{T: t, w: simnet.New(1)}
		m.w.Mu.Lock()
		defer m.w.Mu.Unlock()
		m.c = simredis.NewCluster(m.w, masters, replicas)
		m.after(2 * time.Second)
		play(m)
		for _, h := range m.w.Handlers() {
			h.(*simredis.Server).Kill(true)
		}
	})
}

// after lets time pass.
func (m *modelled) after(d time.Duration) {
	m.w.Mu.Unlock()
	time.Sleep(d)
	m.w.Mu.Lock()
}

// becomes lets time pass until that is so, and returns how long it took.
func (m *modelled) becomes(what string, is func() bool) time.Duration {
	m.Helper()
	began := time.Now()
	for ; !is(); m.after(10 * time.Millisecond) {
		if time.Since(began) > 2*time.Minute {
			m.Fatalf("it never came about: %s", what)
		}
	}
	return time.Since(began)
}

func (m *modelled) says(s *simredis.Server, args ...string) string {
	return string(s.Session("10.1.0.1").Do(args...))
}

// A part of the servers that hears no majority refuses after the node timeout, and the
// replica on the other side takes over.
func TestMinorityOfTheModelRefuses(t *testing.T) {
	inModel(t, 3, 1, func(m *modelled) {
		all := m.c.Servers
		key := of(0)
		m.c.Part(all[:1], all[1:], true)
		m.after(m.c.NodeTimeout - time.Second)
		if got := m.says(all[0], "SET", key, "1"); got != "+OK\r\n" {
			t.Errorf("before the node timeout it answers %q", got)
		}
		took := m.becomes("the minority refuses", func() bool { return strings.HasPrefix(m.says(all[0], "SET", key, "2"), "-CLUSTERDOWN") })
		if took > m.c.NodeTimeout {
			t.Errorf("it refuses %v later", took)
		}
		m.becomes("the replica serves", func() bool { return m.says(all[3], "SET", key, "3") == "+OK\r\n" })
		if m.c.Master(key) != all[3] || m.c.Failovers != 1 {
			t.Errorf("%d failovers, and the master is %v", m.c.Failovers, m.c.Master(key))
		}
		m.c.Part(all[:1], all[1:], false)
		m.becomes("the former master follows", func() bool { return strings.HasPrefix(m.says(all[0], "SET", key, "4"), "-MOVED") })
		m.becomes("all is well", m.c.Settled)
		if got := all[0].Dump(key); !strings.Contains(got, `"3"`) {
			t.Errorf("it has kept %s", got)
		}
	})
}

// Without a majority of the masters there is no failover.
func TestNoMajorityOfTheModelElectsNobody(t *testing.T) {
	inModel(t, 3, 1, func(m *modelled) {
		all := m.c.Servers
		all[0].Kill(false)
		all[1].Kill(true)
		m.after(time.Minute)
		if m.c.Failovers > 0 {
			t.Errorf("one of three masters has elected %d", m.c.Failovers)
		}
		all[1].Start(true)
		m.becomes("a failover", func() bool { return m.c.Failovers == 1 })
		all[0].Start(false)
		m.becomes("all is well", m.c.Settled)
	})
}

// Of two replicas the one with more data is elected.
func TestReplicaOfTheModelWithMoreDataIsElected(t *testing.T) {
	inModel(t, 3, 2, func(m *modelled) {
		all := m.c.Servers
		all[3].Stall(true)
		m.says(all[0], "SET", of(0), "1")
		m.after(time.Second)
		all[0].Kill(false)
		all[3].NoFailover, all[6].NoFailover = true, true
		m.becomes("all know that the master is dead", func() bool {
			return !slices.ContainsFunc(all[1:], func(s *simredis.Server) bool { return !strings.HasPrefix(m.says(s, "GET", of(0)), "-CLUSTERDOWN") })
		})
		all[3].NoFailover, all[6].NoFailover = false, false
		m.becomes("a failover", func() bool { return m.c.Failovers == 1 })
		if m.c.Master(of(0)) != all[6] {
			t.Errorf("%s is elected", m.c.Master(of(0)).Addr)
		}
	})
}

// A server joins, takes a slot, gives it back and leaves. Behind that it is alone.
func TestServerJoinsTheModelAndLeaves(t *testing.T) {
	inModel(t, 3, 1, func(m *modelled) {
		key, others := of(0), slices.Clone(m.c.Servers)
		slot := codec.Slot(key)
		var moved []string
		m.c.Moved = func(slot uint16, from, to *simredis.Server) {
			moved = append(moved, fmt.Sprintf("%d from %s to %s", slot, from.Addr, to.Addr))
		}
		m.says(others[0], "SET", key, "1")
		s := m.c.Join()
		m.becomes("all know all", m.c.Settled)
		for _, to := range []*simredis.Server{s, others[0]} {
			done := false
			m.c.Move(slot, to, func() { done = true })
			m.becomes("the slot has moved", func() bool { return done && m.c.Settled() })
			if m.c.Master(key) != to || m.says(to, "GET", key) != "$1\r\n1\r\n" {
				t.Errorf("the key is not at %s", to.Addr)
			}
		}
		if len(moved) != 2 {
			t.Errorf("moved: %v", moved)
		}
		m.c.Delete(s)
		m.after(5 * time.Second)
		if !m.c.Settled() || len(m.c.Servers) != 6 {
			t.Error("the others are not well")
		}
		if got := m.says(s, "GET", key) + m.says(s, "CLUSTER", "SLOTS"); got != "-CLUSTERDOWN Hash slot not served\r\n*0\r\n" {
			t.Errorf("alone it answers %q", got)
		}
	})
}

// The master of a slot is replaced while all are told that it owns that. Its successor must not give the slot back to it.
func TestSlotOfTheModelWhoseMasterIsReplacedKeepsAnOwner(t *testing.T) {
	inModel(t, 3, 1, func(m *modelled) {
		key := of(0)
		for i := range 16 {
			m.after(2 * m.c.NodeTimeout) // before that nobody votes again
			owner, done := m.c.Master(key), false
			m.c.Move(codec.Slot(key), owner, func() { done = true })
			m.after(time.Duration(i) * 100 * time.Millisecond)
			for _, s := range m.c.Servers {
				if s.Follows(owner) {
					s.Command("FAILOVER")
				}
			}
			m.becomes("it is replaced", func() bool { return m.c.Master(key) != owner })
			m.becomes("all are told", func() bool { return done })
			m.becomes("all is well", m.c.Settled)
		}
	})
}

// A server of another cluster comes to the address of a dead replica. Neither cluster takes
// it for one of its own.
func TestAddressOfTheModelIsUsedAgain(t *testing.T) {
	inModel(t, 3, 1, func(m *modelled) {
		other := simredis.NewCluster(m.w, 1, 1)
		m.after(2 * time.Second)
		dead, stranger := m.c.Servers[3], other.Servers[1]
		addr, former := dead.Addr, stranger.Addr
		dead.Kill(true)
		stranger.Kill(false)
		stranger.Readdress(addr)
		stranger.Start(true)
		m.becomes("its own cluster finds it", other.Settled)
		m.after(time.Minute)
		if got := m.says(m.c.Servers[0], "CLUSTER", "NODES"); !strings.Contains(got, ":0@0 slave,fail?,noaddr") || strings.Contains(got, addr) {
			t.Errorf("the dead one is known as\n%s", got)
		}
		if got := m.says(other.Servers[0], "CLUSTER", "NODES"); !strings.Contains(got, addr+"@") || strings.Contains(got, former+"@") {
			t.Errorf("its own cluster knows it as\n%s", got)
		}
		if len(m.says(stranger, "CLUSTER", "NODES")) != len(m.says(other.Servers[0], "CLUSTER", "NODES")) {
			t.Error("it knows others than its own cluster's")
		}
	})
}

// The same seed gives the same history.
func TestHistoryOfAModelledClusterIsItsSeeds(t *testing.T) {
	var hashes []uint64
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			w := simnet.New(7)
			w.Mu.Lock()
			c := simredis.NewCluster(w, 3, 2)
			for i := range 40 {
				w.After(time.Duration(i)*10*time.Second, func() {
					s := c.Servers[w.Rand.IntN(len(c.Servers))]
					masters := c.Masters()
					switch w.Rand.IntN(4) {
					case 0:
						s.Kill(false)
						w.After(8*time.Second, func() { s.Start(true) })
					case 1:
						s.Command("FAILOVER")
					case 2:
						c.Move(uint16(w.Rand.IntN(16384)), masters[w.Rand.IntN(len(masters))], nil)
					case 3:
						c.Part(c.Servers[:3], c.Servers[3:], true)
						w.After(7*time.Second, func() { c.Part(c.Servers[:3], c.Servers[3:], false) })
					}
				})
			}
			w.Mu.Unlock()
			time.Sleep(8 * time.Minute)
			w.Mu.Lock()
			if !c.Settled() || c.Failovers < 3 {
				t.Errorf("%d failovers, settled %v", c.Failovers, c.Settled())
			}
			for _, s := range c.Servers {
				s.Kill(true)
			}
			w.Mu.Unlock()
			hashes = append(hashes, w.Hash())
		})
	}
	if hashes[0] != hashes[1] {
		t.Errorf("two histories: %x", hashes)
	}
}
