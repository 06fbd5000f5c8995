package redisserver_test

import (
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/redisserver"
)

func TestFetchedServerIsOfTheVersionAskedFor(t *testing.T) {
	binary, err := redisserver.Fetch(t.Context(), "redis-7.0")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("RLOCK_REDIS_SERVER", binary)
	version, err := redisserver.Version(redisserver.Dial(t, redisserver.Local(t)))
	if err != nil || !strings.HasPrefix(version, "Redis 7.0.") {
		t.Errorf("%q, %v", version, err)
	}
	if _, err := redisserver.Fetch(t.Context(), "redis-1.0"); err == nil || !strings.Contains(err.Error(), "usage: ") {
		t.Errorf("an unknown server: %v", err)
	}
}
