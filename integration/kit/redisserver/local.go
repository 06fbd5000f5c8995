package redisserver

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// LocalServer is a redis-server process on 127.0.0.1. It also has all methods of redistest.Server, such as Kill, Pid
// and Monitor.
type LocalServer struct {
	*redistest.Server
	t   testing.TB
	dir string
}

var _ Server = (*LocalServer)(nil)

// Local starts a redis-server. args override its default arguments. The server keeps its data over Restart.
func Local(t testing.TB, args ...string) *LocalServer {
	t.Helper()
	dir := t.TempDir()
	// A save point makes an orderly shutdown write the data. It is never reached, so that no test has background saves
	// and their forks.
	own := []string{"--save", "86400", "1000000000", "--dir", dir}
	return &LocalServer{redistest.Start(t, append(own, args...)...), t, dir}
}

// Wipe restarts the server without its data.
func (s *LocalServer) Wipe() {
	s.t.Helper()
	s.Stop()
	files, err := filepath.Glob(filepath.Join(s.dir, "*"))
	for _, file := range files {
		err = errors.Join(err, os.RemoveAll(file))
	}
	if err != nil {
		s.t.Fatalf("redisserver: %v", err)
	}
	s.Restart()
}
