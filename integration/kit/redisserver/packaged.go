package redisserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/codeedit"
)

// Packages are the names of the servers that integration/servers.sh can get.
var Packages = []string{"redis-6.2", "redis-7.0", "redis-8.0", "valkey-8"}

// Fetch returns what starts a server of Packages, for RLOCK_REDIS_SERVER. It blocks until the package is there (the
// first time it needs a network) or ctx ends. The error says why this machine can't have the server.
func Fetch(ctx context.Context, name string) (string, error) {
	root, err := codeedit.Root()
	if err != nil {
		return "", fmt.Errorf("redisserver: %w", err)
	}
	var out, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(root, "integration", "servers.sh"), name)
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return "", fmt.Errorf("redisserver: %s: %w", lines[len(lines)-1], errors.Join(err, ctx.Err()))
	}
	return strings.TrimSpace(out.String()), nil
}

// Version is the server's name and version by its INFO: "Redis 7.0.15", "Valkey 8.1.1".
func Version(conn redis.Conn) (string, error) {
	info, err := redis.String(conn.Do("INFO", "server"))
	if err != nil {
		return "", fmt.Errorf("redisserver: %w", err)
	}
	// Valkey shows a redis_version too.
	for _, kind := range []string{"Valkey", "Redis"} {
		for line := range strings.Lines(info) {
			if v, ok := strings.CutPrefix(line, strings.ToLower(kind)+"_version:"); ok {
				return kind + " " + strings.TrimSpace(v), nil
			}
		}
	}
	return "", errors.New("redisserver: INFO names no version")
}
