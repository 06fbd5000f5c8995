package simredis

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// played runs f with a set of a master, replicas and three Sentinels, which know each other.
func played(t *testing.T, replicas int, f func(t *testing.T, w *simnet.World, set *Set)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := simnet.New(1)
		w.Mu.Lock()
		set := NewSet(w, replicas, 3)
		w.Mu.Unlock()
		time.Sleep(15 * time.Second)
		f(t, w, set)
	})
}

// after waits until a condition holds, and returns how long that took.
func after(t *testing.T, w *simnet.World, what string, most time.Duration, done func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		w.Mu.Lock()
		ok := done()
		w.Mu.Unlock()
		switch took := time.Since(began); {
		case ok:
			return took
		case took > most:
			t.Fatalf("%s: not within %v", what, most)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func with(w *simnet.World, f func()) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	f()
}

func agree(set *Set, addr string) func() bool {
	return func() bool {
		return !slices.ContainsFunc(set.Sentinels, func(s *Sentinel) bool { return s.watched == nil || s.watched.masterAddr() != addr })
	}
}

func TestKilledMasterIsReplacedAndComesBackAsAReplica(t *testing.T) {
	played(t, 1, func(t *testing.T, w *simnet.World, set *Set) {
		former, next := set.Servers[0], set.Servers[1]
		with(w, func() { former.Kill(false) })
		took := after(t, w, "all name the other one", 10*time.Second, agree(set, next.Addr))
		if took < 5*time.Second {
			t.Errorf("after %v, and a master counts as down after 5 s", took)
		}
		var x *Session
		with(w, func() {
			former.Start(true)
			x = former.Session("10.1.0.1")
			x.Do("PING")
		})
		took = after(t, w, "it follows", 25*time.Second, func() bool { return former.master == next })
		if took < 8*time.Second {
			t.Errorf("converted after %v", took)
		}
		if !x.Ended() {
			t.Error("its clients' connections stay")
		}
	})
}

func TestFailoverToAReplicaThatHangsIsGivenUp(t *testing.T) {
	played(t, 1, func(t *testing.T, w *simnet.World, set *Set) {
		lead := set.Sentinels[0]
		var x *Session
		with(w, func() {
			x = lead.Session("10.1.0.1")
			x.Do("SUBSCRIBE", "-failover-abort-slave-timeout")
			if reply := lead.command("FAILOVER", []string{"FAILOVER", MasterName}); reply != Status("OK") {
				t.Fatalf("SENTINEL FAILOVER: %v", reply)
			}
			if reply := lead.command("FAILOVER", []string{"FAILOVER", MasterName}); reply != Error("INPROG Failover already in progress") {
				t.Errorf("SENTINEL FAILOVER again: %v", reply)
			}
			set.Servers[1].Paused = true
		})
		took := after(t, w, "it is given up", 15*time.Second, func() bool { return len(x.Received()) > 0 })
		if took < 9*time.Second || !agree(set, set.Servers[0].Addr)() || set.Failovers != 0 {
			t.Errorf("after %v, %d failovers", took, set.Failovers)
		}
	})
}

func TestSentinelThatDiesBehindAPromotionRemembersIt(t *testing.T) {
	played(t, 2, func(t *testing.T, w *simnet.World, set *Set) {
		lead := set.Sentinels[0]
		with(w, func() { lead.command("FAILOVER", []string{"FAILOVER", MasterName}) })
		after(t, w, "the promotion", 10*time.Second, func() bool { return lead.watched.state == reconfReplicas })
		with(w, func() {
			lead.Kill(false)
			lead.Start(false)
			m := lead.watched
			if m.master.addr != set.Master().Addr || set.Master() == set.Servers[0] || set.Failovers != 1 {
				t.Errorf("it names %s, the master is %s, %d failovers", m.master.addr, set.Master().Addr, set.Failovers)
			}
			if !slices.ContainsFunc(m.replicas, func(v *view) bool { return v.addr == set.Servers[0].Addr }) || len(m.replicas) != 2 {
				t.Errorf("it does not know the former master as one of %d replicas", len(m.replicas))
			}
		})
		after(t, w, "the former master follows", 25*time.Second, func() bool { return set.Servers[0].master == set.Master() })
	})
}

func TestSentinelThatIsSetUpAnewHasAnOlderConfiguration(t *testing.T) {
	played(t, 1, func(t *testing.T, w *simnet.World, set *Set) {
		with(w, func() { set.Failover() })
		after(t, w, "all name the other one", 15*time.Second, agree(set, set.Servers[1].Addr))
		time.Sleep(20 * time.Second)
		x := set.Sentinels[0]
		host, port := split(set.Servers[1].Addr)
		with(w, func() {
			x.command("REMOVE", []string{"REMOVE", MasterName})
			if reply := x.command("GET-MASTER-ADDR-BY-NAME", []string{"", MasterName}); reply != (nilArray{}) {
				t.Errorf("without a master: %v", reply)
			}
			x.command("MONITOR", []string{"MONITOR", MasterName, host, port, "2"})
			if x.watched.epoch != 0 {
				t.Errorf("epoch %d", x.watched.epoch)
			}
		})
		after(t, w, "the others tell it the epoch", 10*time.Second, func() bool { return x.watched.epoch == 1 && len(x.watched.sentinels) == 2 })

		with(w, func() { x.Kill(false); x.StartAnew(set.Servers[0].Addr) }) // its file names the former master
		took := after(t, w, "the others tell it the master", 10*time.Second, agree(set, set.Servers[1].Addr))
		if took == 0 {
			t.Error("it knew at once")
		}
		with(w, func() { x.command("RESET", []string{"RESET", "*"}) })
		if len(x.watched.sentinels) != 0 || x.watched.epoch != 1 {
			t.Errorf("behind a RESET: %d others, epoch %d", len(x.watched.sentinels), x.watched.epoch)
		}
		after(t, w, "it finds all again", 15*time.Second, func() bool { return len(x.watched.sentinels) == 2 && len(x.watched.replicas) == 1 })
	})
}

func TestSentinelThatIsCutOffDisagrees(t *testing.T) {
	played(t, 2, func(t *testing.T, w *simnet.World, set *Set) {
		alone := set.Sentinels[2]
		block := func(blocked bool) {
			for _, s := range append(slices.Clone(set.Servers), set.Sentinels[0].Server, set.Sentinels[1].Server) {
				w.Block(hostOf(alone.Addr), s.Addr, blocked)
				w.Block(hostOf(s.Addr), alone.Addr, blocked)
			}
		}
		with(w, func() { block(true); set.Servers[0].Kill(false) })
		after(t, w, "the others agree", 15*time.Second, func() bool {
			m := set.Sentinels[0].watched.master.addr
			return m != set.Servers[0].Addr && set.Sentinels[1].watched.master.addr == m
		})
		time.Sleep(time.Minute)
		if alone.watched.master.addr != set.Servers[0].Addr || alone.watched.state > waitStart {
			t.Errorf("it was alone, and has %s, state %d", alone.watched.master.addr, alone.watched.state)
		}
		with(w, func() { block(false) })
		after(t, w, "it hears", 5*time.Second, agree(set, set.Sentinels[0].watched.master.addr))
	})
}

func TestReplicaContinuesOrCopies(t *testing.T) {
	played(t, 1, func(t *testing.T, w *simnet.World, set *Set) {
		m, r := set.Servers[0], set.Servers[1]
		var x *Session
		with(w, func() {
			m.CopyTime, m.SyncDelay = 3*time.Second, 2*time.Second
			r.CopyTime, r.SyncDelay = 3*time.Second, 2*time.Second
			x = m.Session("10.1.0.1")
			x.Do("SET", "k", "1")
		})
		time.Sleep(time.Second)
		with(w, func() { r.link.broken(); x.Do("SET", "k", "2") })
		took := after(t, w, "it continues", 5*time.Second, func() bool { e := r.db["k"]; return e != nil && e.str == "2" })
		if took > 2*time.Second {
			t.Errorf("a replica whose connection broke copied all: %v", took)
		}
		with(w, func() { r.Kill(false); r.Start(true) })
		states := []string{}
		took = after(t, w, "it copies", 10*time.Second, func() bool {
			_, text, _ := strings.Cut(m.info([]string{"replication"}).(string), ",state=")
			text, _, _ = strings.Cut(text, ",")
			if !slices.Contains(states, text) {
				states = append(states, text)
			}
			return text == "online"
		})
		if took < 5*time.Second || !slices.Equal(states, []string{"wait_bgsave", "send_bulk", "online"}) {
			t.Errorf("after %v, states %v", took, states)
		}
		with(w, func() { r.Stall(true); x.Do("SET", "k", "3") })
		took = after(t, w, "the master has had enough", 2*replTimeout, func() bool { return len(m.replicas) == 0 })
		if took < replTimeout-2*time.Second || took > replTimeout+2*time.Second {
			t.Errorf("after %v", took)
		}
		with(w, func() { r.Stall(false) })
		after(t, w, "it is back", 20*time.Second, func() bool { e := r.db["k"]; return e != nil && e.str == "3" })
	})
}
