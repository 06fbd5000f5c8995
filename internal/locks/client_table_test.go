package locks

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/topology"
)

// newClient makes a client for the server of a URL. It ends with the test.
func newClient(t *testing.T, url string) *table {
	t.Helper()
	c := new(table)
	err := c.init(Config{
		Settings: Settings{
			Watchdog: time.Minute, Timeout: 2 * time.Second, Clock: clock.System(),
			Topology: func(s topology.Settings) (topology.Topology, error) { return topology.Open(url, s) },
		},
		NewOwner: func() (*OwnerState, *Hold) { return new(OwnerState), new(Hold) },
		NewHold:  func() *Hold { return new(Hold) },
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.shut()
		c.renewer.Close()
		c.top.Close(time.Second)
		c.timers.RunAll()
		c.timers.Wait()
		c.actors.Close()
	})
	return c
}
