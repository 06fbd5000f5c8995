package redisserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ory/dockertest/v3"
)

// engine connects to a Docker engine: the one that DOCKER_HOST names, the system's, or the one that
// integration/docker/engine.sh started.
func engine(t testing.TB) *dockertest.Pool {
	t.Helper()
	var failures []string
	for _, host := range engineHosts() {
		pool, err := dockertest.NewPool(host)
		if err == nil {
			t.Cleanup(pool.Client.HTTPClient.CloseIdleConnections)
			if err = pool.Client.Ping(); err == nil {
				return pool
			}
		}
		failures = append(failures, fmt.Sprintf("%s: %v", host, err))
	}
	t.Fatalf("redisserver: no Docker engine answers; integration/docker/engine.sh up starts one (%s)",
		strings.Join(failures, "; "))
	return nil
}

func engineHosts() []string {
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		return []string{host}
	}
	state := os.Getenv("RLOCK_DOCKER_STATE")
	if state == "" {
		state = filepath.Join(os.TempDir(), fmt.Sprintf("rlock-docker-%d", os.Getuid()))
	}
	return []string{"unix:///var/run/docker.sock", "unix://" + filepath.Join(state, "engine.sock")}
}

// image is the image's repository and tag, from RLOCK_REDIS_IMAGE, by default redis:7. It must be there already:
// dockertest would pull what is missing, and a test must not depend on a network.
func image(t testing.TB, pool *dockertest.Pool) (repository, tag string) {
	t.Helper()
	name := os.Getenv("RLOCK_REDIS_IMAGE")
	if name == "" {
		name = "redis:7"
	}
	if _, err := pool.Client.InspectImage(name); err != nil {
		t.Fatalf("redisserver: image %s: %v; integration/docker/image.sh makes it", name, err)
	}
	repository, tag = name, "latest"
	// A colon before the last slash belongs to a host's port.
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		repository, tag = name[:i], name[i+1:]
	}
	return repository, tag
}
