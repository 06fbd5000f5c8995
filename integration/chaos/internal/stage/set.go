package stage

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/integration/chaos/internal/schedule"
	"github.com/rlock-go/redisson/integration/chaos/internal/sets"
	"github.com/rlock-go/redisson/integration/kit/gate"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// slot returns the slot of a fault's lock.
func (s *Stage) slot(f schedule.Fault) uint16 {
	return codec.Slot(LockName(f.Lock))
}

// set is several servers that share the locks, each behind a gate.
type set struct {
	*sets.Set
	clock    machineclock.Clock
	settling sync.WaitGroup // failovers that are over for clients, but not yet for all servers
	busy     sync.Mutex     // held during a failover or a replica's fault
	excused  atomic.Bool    // the schedule asked for the current failover
	nameless bool           // owners are ids of permits, which don't tell Go from Java
	moved    map[uint16]time.Time
}

func buildSet(t testing.TB, topology string) *set {
	s := &set{clock: machineclock.New(), moved: map[uint16]time.Time{}}
	if topology == schedule.Sentinel {
		s.Set = sets.Sentinels(t)
	} else {
		s.Set = sets.Cluster(t, 2*time.Second)
	}
	s.feedLate(t)
	return s
}

// shards is the number of a cluster's masters, each of which has one replica.
const shards = sets.Shards

// feedLate sets Redis's default delay, in seconds, before a master feeds a new replica, and a small backlog for a replica
// that comes back. The set starts without both, and so does a server that was killed.
func (s *set) feedLate(t testing.TB) {
	for _, n := range s.Nodes {
		for setting, value := range map[string]int{"repl-diskless-sync-delay": 5, "repl-backlog-size": 16 << 10} {
			if _, err := sets.Do(n, "CONFIG", "SET", setting, value); err != nil {
				t.Fatalf("%s: %v", n.Addr(), err)
			}
		}
	}
}

// spared reports whether a failover that began at from can't have lost an owner's grant: all replicas that were asked had
// acknowledged it before its caller knew of it. During the failover the former master may have only some of its replicas,
// and WAIT asks only those. So if the grant came after from, all replicas must have been asked.
func (s *set) spared(owner string, returned, from int64) bool {
	at := s.clock.Time(returned)
	return s.Witness.Of(owner, at) == gate.Proven && (returned < from || s.Cluster != nil || s.Witness.Asked(owner) == len(s.Nodes)-1)
}

var ownerForm = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:[0-9]+|\b[0-9a-f]{32}\b`)

// Acknowledged returns what the gates saw of the owners that a text names, with the replies to WAIT.
func (s *Stage) Acknowledged(text string) (b string) {
	if s.set == nil {
		return ""
	}
	for _, owner := range ownerForm.FindAllString(text, 4) {
		for _, line := range s.set.Witness.History(owner) {
			b += "\n      " + owner + ": " + line
		}
	}
	return b
}

func (s *set) masters() (all []*redistest.Server) {
	for _, n := range s.Nodes {
		if n.Pid() != 0 && sets.Role(n) == "master" {
			all = append(all, n)
		}
	}
	return all
}

func (s *set) gateOf(row int) *gate.Gate {
	all := s.masters()
	if len(all) == 0 {
		return nil
	}
	for i, n := range s.Nodes {
		if n == all[row%len(all)] {
			return s.Gates[i]
		}
	}
	return nil
}

func (s *set) onMasters(command string, args ...any) error {
	for _, n := range s.masters() {
		if _, err := sets.Do(n, command, args...); err != nil {
			return fmt.Errorf("%s %s: %w", n.Addr(), command, err)
		}
	}
	return nil
}

// killSubscriptions ends the subscriptions to the masters, but not the Sentinels': a Sentinel that has just connected does
// not reconnect for a second, and counts the master as dead by then.
func (s *set) killSubscriptions() error {
	for _, n := range s.masters() {
		list, err := redis.String(sets.Do(n, "CLIENT", "LIST", "TYPE", "pubsub"))
		for line := range strings.Lines(list) {
			id, _, _ := strings.Cut(strings.TrimPrefix(line, "id="), " ")
			if err == nil && !strings.Contains(line, " name=sentinel-") {
				_, err = sets.Do(n, "CLIENT", "KILL", "ID", id)
			}
		}
		if err != nil && !strings.Contains(err.Error(), "No such client") {
			return fmt.Errorf("%s: kill subscriptions: %w", n.Addr(), err)
		}
	}
	return nil
}

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
		return errors.Join(set.onMasters("FLUSHALL"), s.setPermits())
	case schedule.Force:
		defer s.Book.Voiding(f.Lock, string(f.Kind))()
		return s.force(f.Lock)
	case schedule.MoveSlot:
		set.moveSlot(f, s.slot(f))
	case schedule.Failover, schedule.Forced, schedule.TakenOver, schedule.KillMaster, schedule.StopServer:
		s.playFailover(f)
	}
	return nil
}

// playFailover replaces or pauses a master. It skips the fault if the last such fault is not over.
func (s *Stage) playFailover(f schedule.Fault) {
	set := s.set
	if !set.busy.TryLock() {
		s.Logf("note: %v: the last failover is not over", f)
		return
	}
	from := machineclock.Now()
	if set.Cluster != nil {
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
	former, epoch := set.Watched.Master(), set.Watched.Epoch()
	next := set.failWatched(f)
	set.settling.Go(func() {
		// After a pause the former master may be the master again.
		v.remains(func(master *redistest.Server, now int) bool {
			return (next == nil || master == next) && (master != former || now == epoch)
		})
		if v.twice.Load() {
			s.Logf("note: %v: the Sentinels moved the master more than once", f)
		}
		set.excused.Store(false)
		s.refill()
		over()
		set.Watched.AwaitSettled()
		s.Logf("note: %v: all servers agree %v after it began", f, time.Duration(machineclock.Now()-from).Round(time.Millisecond))
		set.busy.Unlock()
	})
}

// playReplica carries out a fault of a replica. No failover runs meanwhile.
func (s *Stage) playReplica(f schedule.Fault) error {
	set := s.set
	if !set.busy.TryLock() {
		s.Logf("note: %v: the last failover is not over", f)
		return nil
	}
	defer set.busy.Unlock()
	// One fault at a time uses the cluster's connections.
	var master, replica *redistest.Server
	s.alone(func() {
		if master, replica = set.pair(f); replica != nil && f.Kind == schedule.ReplicaGoes {
			replica.Kill()
		}
	})
	if replica == nil {
		return nil
	}
	if f.Kind == schedule.ReplicaLags {
		replica.Pause()
		defer replica.Resume()
		time.Sleep(f.For)
		return nil
	}
	time.Sleep(f.For)
	var err error
	s.alone(func() {
		replica.Restart()
		err = set.follow(replica, master)
	})
	if err != nil {
		return err
	}
	if !testbed.Within(patience, func() bool { return sets.Online(master) == set.replicas() }) {
		s.Logf("note: %v: not all replicas are fed after %v", f, patience)
	}
	return nil
}

// alone calls do while no fault of a server runs.
func (s *Stage) alone(do func()) {
	s.serial.Lock()
	defer s.serial.Unlock()
	do()
}

// replicas returns how many replicas each master of the set has.
func (s *set) replicas() int {
	if s.Cluster != nil {
		return 1
	}
	return len(s.Nodes) - 1
}

// pair returns a master and one of its replicas, or nil while no master is known.
func (s *set) pair(f schedule.Fault) (master, replica *redistest.Server) {
	if s.Cluster != nil {
		at := s.Cluster.MasterOf(codec.Slot(LockName(f.Lock)))
		if at < 0 {
			return nil, nil
		}
		return s.Nodes[at], s.Nodes[(at+shards)%(2*shards)]
	}
	if master = s.Watched.Master(); master == nil {
		return nil, nil
	}
	others := slices.DeleteFunc(slices.Clone(s.Nodes), func(n *redistest.Server) bool { return n == master })
	return master, others[f.Row%len(others)]
}

// follow makes a restarted server a replica of its master again. In a cluster it knows its master.
func (s *set) follow(replica, master *redistest.Server) error {
	if s.Cluster != nil {
		s.Cluster.Redial(slices.Index(s.Nodes, replica))
		return nil
	}
	host, port, err := net.SplitHostPort(s.Gates[slices.Index(s.Nodes, master)].Addr())
	if err == nil {
		_, err = sets.Do(replica, "REPLICAOF", host, port)
	}
	return err
}
