package redistest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// Ports between these are outside the usual ranges of ephemeral ports, and
// leave room for a cluster bus 10,000 above.
const firstPort, lastPort = 18_000, 32_000

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

// freePort finds a port on which nobody listens now. Somebody may before it is
// used, hence the retries and the check of the process id.
func freePort() (int, error) {
	var last error
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			last = err
			continue
		}
		return port, l.Close()
	}
	return 0, fmt.Errorf("no free port: %w", last)
}
