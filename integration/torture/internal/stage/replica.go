package stage

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/torture/internal/schedule"
	"github.com/rlock-go/redisson/internal/redistest"
)

// playReplica carries out what happens to a replica. No failover meets one that is away.
func (s *Stage) playReplica(f schedule.Fault) error {
	if s.set == nil {
		return s.visit(f)
	}
	set := s.set
	if !set.busy.TryLock() {
		s.Logf("note: %v: the last failover is not over", f)
		return nil
	}
	defer set.busy.Unlock()
	// The cluster's connections are those of one fault at a time.
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
	if !within(patience, func() bool { return online(master) == set.replicas() }) {
		s.Logf("note: %v: not all replicas are fed after %v", f, patience)
	}
	return nil
}

// alone does something while no fault of a server is made.
func (s *Stage) alone(do func()) {
	s.serial.Lock()
	defer s.serial.Unlock()
	do()
}

// replicas is how many each master of the set has.
func (s *set) replicas() int {
	if s.cluster != nil {
		return 1
	}
	return len(s.nodes) - 1
}

// pair is a master and one of its replicas, nil while nobody knows.
func (s *set) pair(f schedule.Fault) (master, replica *redistest.Server) {
	if s.cluster != nil {
		at := s.cluster.MasterOf(codec.Slot(LockName(f.Lock)))
		if at < 0 {
			return nil, nil
		}
		return s.nodes[at], s.nodes[(at+shards)%(2*shards)]
	}
	if master = s.watched.Master(); master == nil {
		return nil, nil
	}
	others := slices.DeleteFunc(slices.Clone(s.nodes), func(n *redistest.Server) bool { return n == master })
	return master, others[f.Row%len(others)]
}

// follow has a server that was restarted be a replica of its master again. A cluster's knows of whom.
func (s *set) follow(replica, master *redistest.Server) error {
	if s.cluster != nil {
		s.cluster.Redial(slices.Index(s.nodes, replica))
		return nil
	}
	host, port, err := net.SplitHostPort(s.gates[slices.Index(s.nodes, master)].Addr())
	if err == nil {
		_, err = do(replica, "REPLICAOF", host, port)
	}
	return err
}

// visit has a single server get a replica, which stands still for a while and goes for good. For a third of its time at most
// it is connected and not fed.
func (s *Stage) visit(f schedule.Fault) error {
	if _, err := s.ask("CONFIG", "SET", "repl-diskless-sync-delay", int(f.For.Seconds())/3); err != nil {
		return nil // the server is down or stands still, and another replica comes
	}
	replica := redistest.Start(s.t, "--replicaof", "127.0.0.1", fmt.Sprint(s.server.Port()))
	defer replica.Kill()
	time.Sleep(f.For * 2 / 3)
	replica.Pause()
	time.Sleep(f.For / 6)
	replica.Resume()
	time.Sleep(f.For / 6)
	return nil
}

// online is how many replicas a master feeds that have all it has.
func online(master *redistest.Server) int {
	info, err := redis.String(do(master, "INFO", "replication"))
	if err != nil {
		return -1
	}
	return strings.Count(info, ",state=online,")
}
