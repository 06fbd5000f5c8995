package stage

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/gate"
	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
	"github.com/rlock-go/redisson/integration/torture/internal/schedule"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
)

// slot is that of a fault's lock.
func (s *Stage) slot(f schedule.Fault) uint16 {
	return codec.Slot(s.Kind.Key(s.now(f.Lock), s.names()))
}

// set is several servers that share the locks, each behind a gate.
type set struct {
	url     string
	network *gate.Network
	gates   []*gate.Gate
	witness *gate.Witness
	clock   machineclock.Clock
	nodes   []*redistest.Server
	watched *redistest.SentinelSet // nil in a cluster
	cluster *topologytest.Cluster  // nil behind Sentinels

	settling sync.WaitGroup // failovers that are over for clients, and not for all servers
	busy     sync.Mutex     // held by one of them
	excused  atomic.Bool    // a failover is the schedule's
	nameless bool           // owners are ids of permits, which don't tell Go from Java
	moved    map[uint16]time.Time
}

// buildSet starts a set of a topology.
func buildSet(t testing.TB, topology string) *set {
	s := &set{network: gate.New(t), witness: gate.NewWitness(), clock: machineclock.New(), moved: map[uint16]time.Time{}}
	front := func(i int) *gate.Gate {
		g := s.network.Gate(func(e faultproxy.Exchange) { s.witness.See(i, e) })
		s.gates = append(s.gates, g)
		return g
	}
	if topology == schedule.Sentinel {
		var nodes, sentinels [3]redistest.Front
		for i := range nodes {
			nodes[i], sentinels[i] = front(i).Front(), gate.WatcherFront(i)
		}
		s.watched = redistest.StartSentinelsFronted(t, redistest.SentinelPasswords{}, nodes, sentinels)
		s.nodes, s.url = s.watched.Nodes, s.watched.URL()
		s.feedLate(t)
		return s
	}
	const dead = 2 * time.Second
	s.cluster = topologytest.StartReplicatedFronted(t, dead, func(i int) redistest.Front { return front(i).ClusterFront() }, 1, 1, 1)
	s.nodes, s.url = s.cluster.Servers, s.cluster.ClusterURL()
	s.feedLate(t)
	return s
}

// shards is how many masters a cluster has, with a replica each.
const shards = 3

// feedLate sets Redis's own delay, in seconds, before a master feeds a replica, and has it keep little for one that was there
// before. The set was started without. One that was killed comes back without, too.
func (s *set) feedLate(t testing.TB) {
	for _, n := range s.nodes {
		for setting, value := range map[string]int{"repl-diskless-sync-delay": 5, "repl-backlog-size": 16 << 10} {
			if _, err := do(n, "CONFIG", "SET", setting, value); err != nil {
				t.Fatalf("%s: %v", n.Addr(), err)
			}
		}
	}
}

// spared tells whether a failover that began at from can't have taken a lock from its owner: all replicas that were asked
// had acknowledged it, before its caller knew of it. The former master may have kept some of its replicas for a while, and
// whoever connects to it then asks only those: of what was granted since, all must have been asked.
func (s *set) spared(owner string, returned, from int64) bool {
	at := s.clock.Time(returned)
	return s.witness.Of(owner, at) == gate.Proven && (returned < from || s.cluster != nil || s.witness.Asked(owner) == len(s.nodes)-1)
}

var ownerForm = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:[0-9]+`)

// Acknowledged is what WAIT answered to the owners that a text names.
func (s *Stage) Acknowledged(text string) (b string) {
	if s.set == nil {
		return ""
	}
	for _, owner := range ownerForm.FindAllString(text, 4) {
		for _, line := range s.set.witness.History(owner) {
			b += "\n      " + owner + ": " + line
		}
	}
	return b
}

// do sends a command to one server, past all gates.
func do(s *redistest.Server, command string, args ...any) (any, error) {
	c, err := redis.Dial("tcp", s.Addr(), redis.DialClientName(stageName), redis.DialConnectTimeout(time.Second),
		redis.DialReadTimeout(5*time.Second), redis.DialWriteTimeout(time.Second))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Do(command, args...)
}

// masters are the servers that call themselves so.
func (s *set) masters() (all []*redistest.Server) {
	for _, n := range s.nodes {
		if n.Pid() == 0 {
			continue
		}
		if role, err := redis.Values(do(n, "ROLE")); err == nil && len(role) > 0 && fmt.Sprintf("%s", role[0]) == "master" {
			all = append(all, n)
		}
	}
	return all
}

// gateOf is the gate of one of the masters.
func (s *set) gateOf(row int) *gate.Gate {
	all := s.masters()
	if len(all) == 0 {
		return nil
	}
	for i, n := range s.nodes {
		if n == all[row%len(all)] {
			return s.gates[i]
		}
	}
	return nil
}

// onMasters sends a command to all of them.
func (s *set) onMasters(command string, args ...any) error {
	for _, n := range s.masters() {
		if _, err := do(n, command, args...); err != nil {
			return fmt.Errorf("%s %s: %w", n.Addr(), command, err)
		}
	}
	return nil
}

// killSubscriptions ends those of all clients of the masters, but not the Sentinels': one that has just connected does not
// connect again for a second, and takes the master for dead by then.
func (s *set) killSubscriptions() error {
	for _, n := range s.masters() {
		list, err := redis.String(do(n, "CLIENT", "LIST", "TYPE", "pubsub"))
		for line := range strings.Lines(list) {
			id, _, _ := strings.Cut(strings.TrimPrefix(line, "id="), " ")
			if err == nil && !strings.Contains(line, " name=sentinel-") {
				_, err = do(n, "CLIENT", "KILL", "ID", id)
			}
		}
		if err != nil && !strings.Contains(err.Error(), "No such client") {
			return fmt.Errorf("%s: kill subscriptions: %w", n.Addr(), err)
		}
	}
	return nil
}

// playSet carries a fault of the servers out.
func (s *Stage) playSet(f schedule.Fault) error {
	set := s.set
	switch f.Kind {
	case schedule.KillSubscriptions:
		return set.killSubscriptions()
	case schedule.FlushScripts:
		return set.onMasters("SCRIPT", "FLUSH")
	case schedule.PauseClients:
		err := set.onMasters("CLIENT", "PAUSE", f.For.Milliseconds(), "ALL")
		time.Sleep(f.For)
		return err
	case schedule.FlushAll:
		defer s.Book.Voiding(history.Every, string(f.Kind))()
		return errors.Join(set.onMasters("FLUSHALL"), s.again())
	case schedule.Force:
		lock := s.now(f.Lock)
		defer s.Book.Voiding(lock, string(f.Kind))()
		return s.force(lock)
	case schedule.MoveSlot:
		set.moveSlot(f, s.slot(f))
	case schedule.Failover, schedule.Forced, schedule.TakenOver, schedule.KillMaster, schedule.StopServer:
		s.playFailover(f)
	}
	return nil
}

// playFailover has a master replaced, or stand still, once the last such fault is over.
func (s *Stage) playFailover(f schedule.Fault) {
	set := s.set
	if !set.busy.TryLock() {
		s.Logf("note: %v: the last failover is not over", f)
		return
	}
	from := machineclock.Now()
	if set.cluster != nil {
		var emptied atomic.Bool
		over := s.Book.VoidingUnless(history.Every, string(f.Kind), func(owner string, returned int64) bool {
			return !emptied.Load() && set.spared(owner, returned, from)
		})
		if !set.failCluster(f, s.slot(f), func(kept bool) {
			emptied.Store(!kept)
			s.refill()
			over()
		}) {
			s.Logf("note: %v: the former master follows nobody after %v", f, patience)
		}
		set.busy.Unlock()
		return
	}
	v := set.newFailover(from)
	over := s.Book.VoidingUnless(history.Every, string(f.Kind), v.spares)
	set.excused.Store(true)
	former, epoch := set.watched.Master(), set.watched.Epoch()
	next := set.failWatched(f)
	set.settling.Go(func() {
		// All clients have heard of it by then.
		time.Sleep(heard)
		now := set.watched.Master()
		// On a busy machine Sentinels may fail over once more, to the server that came back empty. Behind a pause one that
		// was left may be the master again.
		if again := now == former && set.watched.Epoch() != epoch; now == nil || again || next != nil && now != next {
			s.Logf("note: %v: the Sentinels moved the master more than once", f)
			v.twice.Store(true)
			set.watched.AwaitSettled()
		} else {
			v.stays(now)
		}
		set.excused.Store(false)
		s.refill()
		over()
		set.watched.AwaitSettled()
		s.Logf("note: %v: all servers agree %v after it began", f, time.Duration(machineclock.Now()-from).Round(time.Millisecond))
		set.busy.Unlock()
	})
}

func within(most time.Duration, state func() bool) bool {
	for end := time.Now().Add(most); !state(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
