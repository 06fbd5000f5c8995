package locks

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

// newName makes a name of a client for the server of a URL. The client ends with the test, and until then the name is
// kept.
func newName(t *testing.T, url string) *nameState {
	t.Helper()
	l := newClient(t, url, 2*time.Second).NewLock(kind.Reentrant, "orders", "orders")
	defer l.shard.enter(mustNotBlock).leave()
	return l.shard.pin(&l)
}
