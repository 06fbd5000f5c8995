package locks

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/topology"
)

// newClient makes a client for the server of a URL. It ends with the test, and waits for nothing.
func newClient(t *testing.T, url string, timeout time.Duration) *Client {
	t.Helper()
	o := config()
	o.Watchdog, o.Timeout, o.Courtesy = time.Minute, timeout, false
	o.Topology = func(s topology.Settings) (topology.Topology, error) { return topology.Open(url, s) }
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Abandon)
	return c
}
