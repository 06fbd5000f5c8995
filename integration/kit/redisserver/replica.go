package redisserver

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
)

// Replica starts a local replica of master. It returns when the replica has all data and the master counts it as
// online. Replication resumes after either of them was restarted, see AwaitReplication.
func Replica(t testing.TB, master *LocalServer, args ...string) *LocalServer {
	t.Helper()
	conn := Dial(t, master)
	// By default a master waits some seconds for more replicas before it sends data to the first.
	if _, err := conn.Do("CONFIG", "SET", "repl-diskless-sync-delay", 0); err != nil {
		t.Fatalf("redisserver: %v", err)
	}
	host, port, err := net.SplitHostPort(master.Addr())
	if err != nil {
		t.Fatalf("redisserver: %v", err)
	}
	replica := Local(t, append([]string{"--replicaof", host, port}, args...)...)
	AwaitReplication(t, replica)
	await(t, "the master calls all its replicas online", func() error {
		info, err := redis.String(conn.Do("INFO", "replication"))
		if err == nil && (!strings.Contains(info, "state=online") || strings.Contains(info, "state=wait_bgsave") || strings.Contains(info, "state=send_bulk")) {
			err = errors.New(info)
		}
		return err
	})
	return replica
}

// AwaitReplication waits until a replica has all of its master's data and receives new writes.
func AwaitReplication(t testing.TB, replica *LocalServer) {
	t.Helper()
	conn := Dial(t, replica)
	await(t, "replication", func() error {
		info, err := redis.String(conn.Do("INFO", "replication"))
		if err == nil && !strings.Contains(info, "master_link_status:up") {
			err = errors.New(info)
		}
		return err
	})
}
