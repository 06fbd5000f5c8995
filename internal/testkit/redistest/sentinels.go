package redistest

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// The settings of a set of Sentinels, whose defaults would be slow. A failover needs quorum
// Sentinels that agree; before AllowFailover it needs never, more than there are. A Sentinel gives
// up a failover after failoverTimeout, and begins the next one after twice that; one that a test
// orders is not begun again, and has orderedTimeout.
const (
	quorum          = 2
	never           = 4
	downAfter       = 500 * time.Millisecond
	failoverTimeout = 5 * time.Second
	orderedTimeout  = 3 * time.Minute
)

// What a Sentinel does how often. It finds the others by what they publish, so it publishes more
// often until the set has settled. By default one that stood still for two seconds does nothing for the
// next thirty, which no machine reaches here.
const (
	publishSettling = 100 * time.Millisecond
	publishEvery    = 2 * time.Second
	tiltTrigger     = time.Hour
)

// MasterName is what the Sentinels of a set call their master.
const MasterName = "orders"

// SentinelSet is one master with two replicas, watched by three Sentinels, two
// of which decide on a failover, after AllowFailover.
type SentinelSet struct {
	Nodes     []*Server // the first began as the master
	Sentinels []*Server

	t       testing.TB
	addrs   map[*Server]string // where others reach a node
	ordered *Server            // the Sentinel that was to promote a replica, until AwaitMaster
}

// SentinelPasswords are the passwords of a set; empty: none.
type SentinelPasswords struct {
	Nodes     string // of the master and its replicas
	Sentinels string // of the Sentinels
}

// StartSentinels starts a set and returns when each Sentinel knows all of it.
func StartSentinels(t testing.TB, pass SentinelPasswords) *SentinelSet {
	t.Helper()
	return StartSentinelsFronted(t, pass, [3]Front{}, [3]Front{})
}

// StartSentinelsBehind is StartSentinels for nodes behind proxies: everyone else, the
// Sentinels included, reaches a node at the address that behind returns.
func StartSentinelsBehind(t testing.TB, pass SentinelPasswords, behind func(*Server) string) *SentinelSet {
	t.Helper()
	s := &SentinelSet{t: t, addrs: map[*Server]string{}}
	return s.start(pass, [3]Front{}, func(_ int, own []string) {
		node := Start(t, own...)
		s.Nodes = append(s.Nodes, node)
		s.addrs[node] = behind(node)
		if node != s.Nodes[0] {
			s.follows(node)
		}
	})
}

// StartSentinelsFronted is StartSentinels for nodes with fronts. Of a Sentinel's
// front only Args counts.
func StartSentinelsFronted(t testing.TB, pass SentinelPasswords, nodes, sentinels [3]Front) *SentinelSet {
	t.Helper()
	s := &SentinelSet{t: t, addrs: map[*Server]string{}}
	return s.start(pass, sentinels, func(i int, own []string) {
		args := own[:len(own):len(own)]
		if i > 0 {
			host, port, _ := net.SplitHostPort(s.addrs[s.Nodes[0]])
			args = append(args, "--replicaof", host, port)
		}
		node, addr := nodes[i].Behind(func(args ...string) *Server { return Start(t, args...) }, args...)
		s.Nodes = append(s.Nodes, node)
		s.addrs[node] = addr
	})
}

// start starts the nodes by add, and the Sentinels.
func (s *SentinelSet) start(pass SentinelPasswords, sentinels [3]Front, add func(i int, own []string)) *SentinelSet {
	t := s.t
	t.Helper()
	Slow(t, "Sentinels need seconds to know each other")
	var own []string
	if pass.Nodes != "" {
		own = []string{"--requirepass", pass.Nodes, "--masterauth", pass.Nodes}
	}
	// A master waits some seconds for further replicas before it feeds the first.
	own = append(own, "--repl-diskless-sync-delay", "0")
	for i := range 3 {
		add(i, own)
	}
	host, port, err := net.SplitHostPort(s.addrs[s.Nodes[0]])
	if err != nil {
		t.Fatal(err)
	}
	s.await("replication", func() bool { return strings.Count(s.info(s.Nodes[0]), "state=online") == 2 })
	settings := []string{
		fmt.Sprintf("sentinel monitor %s %s %s %d", MasterName, host, port, never),
		fmt.Sprintf("sentinel down-after-milliseconds %s %d", MasterName, downAfter.Milliseconds()),
		fmt.Sprintf("sentinel failover-timeout %s %d", MasterName, failoverTimeout.Milliseconds()),
		fmt.Sprintf("sentinel parallel-syncs %s 2", MasterName),
	}
	if pass.Nodes != "" {
		settings = append(settings, fmt.Sprintf("sentinel auth-pass %s %s", MasterName, pass.Nodes))
	}
	if pass.Sentinels != "" {
		settings = append(settings, "requirepass "+pass.Sentinels, "sentinel sentinel-pass "+pass.Sentinels)
	}
	for _, front := range sentinels {
		lines := settings[:len(settings):len(settings)]
		for i := 0; i+1 < len(front.Args); i += 2 {
			lines = append(lines, strings.TrimPrefix(front.Args[i], "--")+" "+strconv.Quote(front.Args[i+1])) // a path may have spaces
		}
		sentinel := StartSentinel(t, pass.Sentinels, lines...)
		s.debug(sentinel, "tilt-trigger", tiltTrigger.Milliseconds(), "publish-period", publishSettling.Milliseconds())
		s.Sentinels = append(s.Sentinels, sentinel)
	}
	s.AwaitSettled()
	for _, sentinel := range s.Sentinels {
		s.debug(sentinel, "publish-period", publishEvery.Milliseconds())
	}
	return s
}

// debug sets periods of a Sentinel. One older than Redis 7.0 keeps its own.
func (s *SentinelSet) debug(sentinel *Server, periods ...any) {
	s.t.Helper()
	if err := s.ask(sentinel, append([]any{"DEBUG"}, periods...)...); err != nil && !strings.Contains(err.Error(), "Unknown subcommand") {
		s.t.Fatalf("redistest: %v", err)
	}
}

// sentinel sends a SENTINEL command with these arguments.
func (s *SentinelSet) sentinel(sentinel *Server, args ...any) {
	s.t.Helper()
	if err := s.ask(sentinel, args...); err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
}

func (s *SentinelSet) ask(sentinel *Server, args ...any) error {
	conn, err := sentinel.dial(sentinel.Addr())
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Do("SENTINEL", args...)
	return err
}

// follows makes a node a replica. The port that it announces must be set before that.
func (s *SentinelSet) follows(node *Server) {
	s.t.Helper()
	conn := node.Dial(s.t)
	if known := s.addrs[node]; known != node.Addr() {
		_, own, err := net.SplitHostPort(known)
		if err == nil {
			_, err = conn.Do("CONFIG", "SET", "replica-announce-port", own)
		}
		if err != nil {
			s.t.Fatalf("redistest: %v", err)
		}
	}
	host, port, err := net.SplitHostPort(s.addrs[s.Nodes[0]])
	if err == nil {
		_, err = conn.Do("REPLICAOF", host, port)
	}
	if err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
}

// Addrs returns the addresses of the Sentinels, separated by commas.
func (s *SentinelSet) Addrs() string {
	var addrs []string
	for _, sentinel := range s.Sentinels {
		addrs = append(addrs, sentinel.Addr())
	}
	return strings.Join(addrs, ",")
}

// URL returns the URL of the set, without passwords.
func (s *SentinelSet) URL() string { return "redis+sentinel://" + s.Addrs() + "/" + MasterName }

// AwaitSettled returns when every running Sentinel knows all Sentinels and two replicas
// that follow the master, and calls neither the master nor a replica down.
func (s *SentinelSet) AwaitSettled() {
	s.t.Helper()
	s.await("every Sentinel knows all of the set", func() bool {
		for _, sentinel := range s.Sentinels {
			if sentinel.Pid() == 0 {
				continue
			}
			m, err := s.master(sentinel)
			if err != nil || m["flags"] != "master" || m["num-slaves"] != "2" || m["num-other-sentinels"] != fmt.Sprint(len(s.Sentinels)-1) {
				return false
			}
			if !s.follow(sentinel) {
				return false
			}
		}
		return true
	})
}

// follow tells whether all replicas follow the master, as sentinel says.
func (s *SentinelSet) follow(sentinel *Server) bool {
	conn, err := sentinel.dial(sentinel.Addr())
	if err != nil {
		return false
	}
	defer conn.Close()
	replicas, err := redis.Values(conn.Do("SENTINEL", "REPLICAS", MasterName))
	if err != nil {
		return false
	}
	for _, one := range replicas {
		m, err := redis.StringMap(one, nil)
		if err != nil || m["flags"] != "slave" || m["master-link-status"] != "ok" {
			return false
		}
	}
	return true
}

// Master returns the node that most running Sentinels name, nil while they disagree.
func (s *SentinelSet) Master() *Server {
	votes := map[string]int{}
	running := 0
	for _, sentinel := range s.Sentinels {
		if sentinel.Pid() == 0 {
			continue
		}
		running++
		if m, err := s.master(sentinel); err == nil {
			votes[net.JoinHostPort(m["ip"], m["port"])]++
		}
	}
	for _, n := range s.Nodes {
		if 2*votes[s.addrs[n]] > running {
			return n
		}
	}
	return nil
}

// Failover makes a Sentinel promote one of the replicas while all servers run. It returns
// when that has begun.
func (s *SentinelSet) Failover(sentinel *Server) {
	s.t.Helper()
	s.sentinel(sentinel, "SET", MasterName, "failover-timeout", orderedTimeout.Milliseconds())
	s.ordered = sentinel
	conn, err := sentinel.dial(sentinel.Addr())
	if err != nil {
		s.t.Fatalf("redistest: %v", err)
	}
	defer conn.Close()
	s.await("a failover begins", func() bool {
		_, err = conn.Do("SENTINEL", "FAILOVER", MasterName)
		return err == nil // NOGOODSLAVE and INPROG go away
	})
}

// Monitor makes every Sentinel watch another node as the master, as if it had watched none.
// All forget the former one first, since each would tell the others of it.
func (s *SentinelSet) Monitor(node *Server) {
	s.t.Helper()
	host, port, _ := net.SplitHostPort(s.addrs[node])
	for _, args := range [][]any{{"REMOVE", MasterName}, {"MONITOR", MasterName, host, port, never}} {
		for _, sentinel := range s.Sentinels {
			if _, err := sentinel.Dial(s.t).Do("SENTINEL", args...); err != nil {
				s.t.Fatalf("redistest: %v", err)
			}
		}
	}
}

// AllowFailover lets the running Sentinels replace a master that is down. Until then only
// Failover replaces it: on a machine that stalls, Sentinels take a live master for dead.
func (s *SentinelSet) AllowFailover() {
	s.t.Helper()
	for _, sentinel := range s.Sentinels {
		if sentinel.Pid() != 0 {
			s.sentinel(sentinel, "SET", MasterName, "failover-timeout", failoverTimeout.Milliseconds(), "quorum", quorum)
		}
	}
}

// AwaitMaster returns the master once it is another node than before.
func (s *SentinelSet) AwaitMaster(before *Server) *Server {
	s.t.Helper()
	var now *Server
	s.await("another master", func() bool { now = s.Master(); return now != nil && now != before })
	if s.ordered != nil && s.ordered.Pid() != 0 { // a replica that can't follow holds the end up for no longer
		s.sentinel(s.ordered, "SET", MasterName, "failover-timeout", failoverTimeout.Milliseconds())
	}
	s.ordered = nil
	return now
}

// master returns what a Sentinel says of the master.
func (s *SentinelSet) master(sentinel *Server) (map[string]string, error) {
	conn, err := sentinel.dial(sentinel.Addr())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return redis.StringMap(conn.Do("SENTINEL", "MASTER", MasterName))
}

func (s *SentinelSet) info(node *Server) string {
	conn, err := node.dial(node.Addr())
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	info, err := redis.String(conn.Do("INFO", "replication"))
	if err != nil {
		return err.Error()
	}
	return info
}

func (s *SentinelSet) await(what string, ok func() bool) {
	s.t.Helper()
	Settles(s.t, what, ok)
}
