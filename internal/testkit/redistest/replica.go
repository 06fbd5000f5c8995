package redistest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// StartReplica starts a replica of s and returns once it has acknowledged a write.
// Redis calls it online before that, and a WAIT may find it silent until then.
func (s *Server) StartReplica(t testing.TB, args ...string) *Server {
	t.Helper()
	conn := s.Dial(t)
	// A master waits some seconds for further replicas before it feeds the first.
	if _, err := conn.Do("CONFIG", "SET", "repl-diskless-sync-delay", 0); err != nil {
		t.Fatalf("redistest: %v", err)
	}
	replica := Start(t, append([]string{"--replicaof", fmt.Sprint("127.0.0.1 ", s.Port())}, args...)...)
	for end := time.Now().Add(startTimeout); ; time.Sleep(pollEvery) {
		info, err := redis.String(conn.Do("INFO", "replication"))
		if err == nil && strings.Contains(info, fmt.Sprintf("port=%d,state=online", replica.Port())) {
			if err = acknowledged(conn, strings.Count(info, "state=online")); err == nil {
				return replica
			}
		}
		if time.Now().After(end) {
			t.Fatalf("redistest: the replica does not follow: %v\n%s", err, info)
		}
	}
}

// acknowledged makes a write, undoes it, and waits up to a second until n replicas have
// both. Without a write on the connection, WAIT would ask no replica.
func acknowledged(conn redis.Conn, n int) error {
	if _, err := conn.Do("SET", "redistest", ""); err != nil {
		return err
	}
	if _, err := conn.Do("DEL", "redistest"); err != nil {
		return err
	}
	acked, err := redis.Int(conn.Do("WAIT", n, 1000))
	if err == nil && acked < n {
		err = fmt.Errorf("%d of %d replicas acknowledged a write", acked, n)
	}
	return err
}
