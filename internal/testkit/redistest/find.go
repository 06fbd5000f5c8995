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

// Ports between these are outside the usual range of ephemeral ports. So are the ports of
// a cluster's bus, 10,000 above; the two ranges do not overlap.
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

// portsEach is how many ports one process has to itself. While a server is killed, its
// port must stay free, and its clients must not reach a server of another process.
const portsEach = 250

// ranges is how many processes can have ports. Each claims its range by a port below
// firstPort.
const ranges = (lastPort - firstPort) / portsEach

// own is the range of this process.
var own struct {
	sync.Once
	first int
	claim net.Listener // open while the process has the range, so a killed process gives it back
	err   error
}

// claimRange finds a range that no process has. It begins at the range number somewhere.
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

// ports has the ports that this process has used; true while the test that took one runs:
// after it killed its server, no other may appear there.
var ports = struct {
	mu sync.Mutex
	of map[int]bool
}{of: map[int]bool{}}

// takePort takes a port unless a test has it. Without had it takes no port that a test has
// had before.
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

// leavePort gives a port back, which then counts as used.
func leavePort(port int) {
	ports.mu.Lock()
	defer ports.mu.Unlock()
	ports.of[port] = false
}

// FreePort finds a port for a server that the test starts itself. The test has it until
// it ends.
func FreePort(t testing.TB) int {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	t.Cleanup(func() { leavePort(port) })
	return port
}

// freePort finds a port on which no process listens now, and which no test of this process
// has. A process may listen there before the port is used; hence the callers' retries and
// the check of the process id.
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
