package redistest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
)

// Ports between these, and those of a cluster's bus 10,000 above, are outside the usual
// ranges of ephemeral ports and of one another.
const firstPort, lastPort = 12_000, 22_000

func binary(t testing.TB) string {
	t.Helper()
	name := os.Getenv("RLOCK_REDIS_SERVER")
	if name == "" {
		name = "redis-server"
	}
	bin, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("redistest: %v. These tests run a real server: install Redis 7.0 or newer "+
			"(Debian and Ubuntu: apt install redis-server; macOS: brew install redis), "+
			"or name its binary in RLOCK_REDIS_SERVER", err)
	}
	return bin
}

// portsEach is how many ports one process has, and no other: a server that was killed
// for a while must not find, and its clients must not meet, that of another process.
const portsEach = 250

// ranges is how many processes find ports. Each has a port below these.
const ranges = (lastPort - firstPort) / portsEach

// own is the range of this process.
var own struct {
	sync.Once
	first int
	claim net.Listener // while it is open nobody else has the range, so even a process that is killed leaves it
	err   error
}

// claimRange finds a range that no process has. It begins to look somewhere.
func claimRange(somewhere int) (first int, claim net.Listener, err error) {
	for i := range ranges {
		at := (somewhere + i) % ranges
		claim, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort-ranges+at)))
		if err == nil {
			return firstPort + at*portsEach, claim, nil
		}
	}
	return 0, nil, fmt.Errorf("%d processes have ports: %w", ranges, err)
}

// ports are those that this process has used, and whether the test that did goes on:
// a server that it has killed stays dead.
var ports = struct {
	mu sync.Mutex
	of map[int]bool
}{of: map[int]bool{}}

// takePort takes a port that no test has, and one that none has had as long as there is
// one.
func takePort(port int, had bool) bool {
	ports.mu.Lock()
	defer ports.mu.Unlock()
	has, used := ports.of[port]
	if has || used && !had {
		return false
	}
	ports.of[port] = true
	return true
}

// leavePort follows the end of a test.
func leavePort(port int) {
	ports.mu.Lock()
	defer ports.mu.Unlock()
	ports.of[port] = false
}

// FreePort finds a port for a server that the test starts itself.
func FreePort(t testing.TB) int {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	t.Cleanup(func() { leavePort(port) })
	return port
}

// freePort finds a port on which nobody listens now, and which no test of this process
// has. Somebody may before it is used, hence the retries and the check of the process id.
func freePort() (int, error) {
	own.Do(func() { own.first, own.claim, own.err = claimRange(os.Getpid()) })
	if own.err != nil {
		return 0, own.err
	}
	last := errors.New("all are in use")
	for tries := range 8 * portsEach {
		port := own.first + rand.IntN(portsEach)
		if !takePort(port, tries >= 4*portsEach) {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			leavePort(port)
			last = err
			continue
		}
		return port, l.Close()
	}
	return 0, fmt.Errorf("no free port: %w", last)
}
