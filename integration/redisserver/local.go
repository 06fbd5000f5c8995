package redisserver

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rlock-go/redisson/internal/redistest"
)

// LocalServer is a redis-server process on 127.0.0.1. What redistest.Server has beyond Server (Kill, Pid, Monitor) is
// there too.
type LocalServer struct {
	*redistest.Server
	t   testing.TB
	dir string
}

var _ Server = (*LocalServer)(nil)

// Local starts a redis-server with these further arguments, which win over its own. It keeps its data over Restart.
func Local(t testing.TB, args ...string) *LocalServer {
	t.Helper()
	dir := t.TempDir()
	return &LocalServer{redistest.Start(t, append(append(savesAtTheEnd(), "--dir", dir), args...)...), t, dir}
}

// Kind is KindLocal.
func (s *LocalServer) Kind() Kind { return KindLocal }

// Wipe restarts the server without its data.
func (s *LocalServer) Wipe() {
	s.t.Helper()
	s.Stop()
	removeData(s.t, s.dir)
	s.Restart()
}

// savesAtTheEnd is a save point that is never reached. That there is one makes an orderly end write the data; that it
// is not reached keeps background saves, and their forks, out of the tests.
func savesAtTheEnd() []string { return []string{"--save", "86400", "1000000000"} }

func removeData(t testing.TB, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatalf("redisserver: %v", err)
	}
	for _, file := range files {
		if err := os.RemoveAll(file); err != nil {
			t.Fatalf("redisserver: %v", err)
		}
	}
}
