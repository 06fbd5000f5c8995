package stage

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
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

// watchSentinels sets aside what the Sentinels of a busy machine take by themselves: they fail over from a master that
// lives.
func (s *Stage) watchSentinels(stop <-chan struct{}) {
	set := s.set
	for {
		v := set.newFailover(machineclock.Now())
		calm, over := s.Book.VoidingSince(history.Every, "the Sentinels failed over by themselves", v.spares)
		epoch := set.watched.Epoch()
		for excused := true; excused; {
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
			now := set.watched.Epoch()
			if excused = now <= epoch || set.excused.Load(); excused {
				epoch = max(epoch, now)
				v.from.Store(machineclock.Now())
				calm()
			}
		}
		s.Logf("note: the Sentinels failed over by themselves")
		time.Sleep(heard)
		if now := set.watched.Master(); now != nil {
			v.stays(now)
		} else {
			v.twice.Store(true)
			set.watched.AwaitSettled()
		}
		s.refill()
		over()
	}
}

// failover is one from Sentinels' master to another.
type failover struct {
	set  *set
	from atomic.Int64
	gate atomic.Int32 // of the master that stays; -1: not known
	left atomic.Int64 // since when no Go client uses another

	twice atomic.Bool // the master was moved more than once
}

func (s *set) newFailover(from int64) *failover {
	v := &failover{set: s}
	v.from.Store(from)
	v.gate.Store(-1)
	v.left.Store(math.MaxInt64)
	return v
}

// stays says which master the failover left, and returns when no other is left.
func (v *failover) stays(master *redistest.Server) {
	v.gate.Store(int32(slices.Index(v.set.nodes, master)))
	v.left.Store(machineclock.Now() + time.Second.Nanoseconds()) // what was called before is answered by then
	// Redisson may use the former master for as long as that takes itself for one.
	within(patience, func() bool { return len(v.set.masters()) == 1 })
}

// spares tells whether the failover can't have taken what its owner was granted at an instant.
func (v *failover) spares(owner string, returned int64) bool {
	from := v.from.Load()
	switch {
	case v.twice.Load():
		return false
	case v.set.spared(owner, returned, from), returned >= v.left.Load() && !v.set.nameless && !javas(owner):
		return true
	}
	// What that one granted meanwhile it has, whoever has acknowledged it.
	return returned >= from && v.set.witness.OnlyAt(owner, int(v.gate.Load()))
}

// javas tells an owner as the book has those of Java: by the names of threads.
func javas(owner string) bool { return strings.Contains(owner, ":t") }

// heard is how long after a failover a Go client may still use the former master.
const heard = 3 * time.Second

// failWatched returns when most Sentinels name another master, and which. Behind a pause there may be either.
func (s *set) failWatched(f schedule.Fault) (next *redistest.Server) {
	former := s.watched.Master()
	if former == nil {
		return nil
	}
	switch f.Kind {
	case schedule.Failover:
		s.watched.Failover(s.watched.Sentinels[f.Row%len(s.watched.Sentinels)])
		next = s.watched.AwaitMaster(former)
	case schedule.KillMaster:
		former.Kill()
		next = s.watched.AwaitMaster(former)
		former.Restart()
	case schedule.StopServer:
		former.Pause()
		time.Sleep(f.For)
		former.Resume()
	}
	return next
}

// failCluster says when all servers agree again, so that nothing is granted that would be taken, and whether what replicas
// had was kept. It returns when a master that was replaced follows the next one, or false after some patience.
func (s *set) failCluster(f schedule.Fault, slot uint16, agreed func(kept bool)) (followed bool) {
	c := s.cluster
	if !within(patience, func() bool { return c.MasterOf(slot) >= 0 }) {
		agreed(true)
		return true
	}
	master := c.MasterOf(slot)
	other := (master + shards) % (2 * shards)
	switch f.Kind {
	case schedule.Failover, schedule.Forced, schedule.TakenOver:
		args := map[schedule.Kind][]any{schedule.Failover: {"FAILOVER"}, schedule.Forced: {"FAILOVER", "FORCE"}, schedule.TakenOver: {"FAILOVER", "TAKEOVER"}}[f.Kind]
		// A replica may give it up, if the master is busy.
		for range 5 {
			if _, err := do(c.Servers[other], "CLUSTER", args...); err == nil &&
				within(6*time.Second, func() bool { return c.MasterOf(slot) == other }) {
				break
			}
		}
		agreed(true)
	case schedule.KillMaster:
		c.Servers[master].Kill()
		replaced := within(patience, func() bool { return c.AllKnowMaster(other) })
		if replaced {
			agreed(true)
		}
		c.Servers[master].Restart()
		c.Redial(master)
		if !replaced { // the servers were too busy for an election
			within(patience, func() bool { return c.MasterOf(slot) >= 0 })
			agreed(false)
		}
	case schedule.StopServer:
		c.Servers[master].Pause()
		time.Sleep(f.For)
		c.Servers[master].Resume()
		// It may have been taken for dead.
		within(patience, func() bool { return c.MasterOf(slot) >= 0 })
		agreed(true)
	}
	return c.MasterOf(slot) != other || within(patience, func() bool { return c.Follows(master) })
}

// settles is how long a slot stays where it is: servers that hear an old claim late believe it.
const settles = 2 * time.Second

// moveSlot has a lock's slot leave its master, and lie in two places for a while.
func (s *set) moveSlot(f schedule.Fault, slot uint16) {
	c := s.cluster
	from := c.MasterOf(slot)
	to := -1
	for i := range c.Servers {
		if i != from && c.Servers[i].Pid() != 0 && len(c.Slots(i)) > 0 {
			to = i
		}
	}
	if from < 0 || to < 0 || time.Since(s.moved[slot]) < settles {
		return
	}
	c.Begin(slot, from, to)
	time.Sleep(f.For / 2)
	c.MoveKeys(slot, from, to, 100)
	time.Sleep(f.For / 2)
	for c.MoveKeys(slot, from, to, 100) > 0 {
	}
	c.End(slot, from, to)
	s.moved[slot] = time.Now()
	// What MIGRATE brought has no WAIT: the next failover must not meet it on its way.
	within(patience, func() bool { return synced(c.Servers[to]) })
}

// synced tells whether all replicas of a master have acknowledged all that it has written.
func synced(master *redistest.Server) bool {
	info, err := redis.String(do(master, "INFO", "replication"))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(info, "master_repl_offset:")
	offset, _, _ := strings.Cut(rest, "\r")
	var written, acked int64
	fmt.Sscan(offset, &written)
	_, rest, found := strings.Cut(info, "offset=")
	offset, _, _ = strings.Cut(rest, ",")
	fmt.Sscan(offset, &acked)
	// Between two questions more may be written; what was there a second ago is what counts.
	return found && acked > 0 && written-acked < 4096
}

func within(most time.Duration, state func() bool) bool {
	for end := time.Now().Add(most); !state(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
