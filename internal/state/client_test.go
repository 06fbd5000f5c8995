package state

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/topology"
)

// newClient makes a client for the server of a URL. It ends with the test.
func newClient(t *testing.T, url string) *Client {
	t.Helper()
	c := new(Client)
	err := c.Init(Config{
		Config: core.Config{
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
		c.Shut()
		c.Renewer.Close()
		c.Top.Close(time.Second)
		c.Timers.RunAll()
		c.Timers.Wait()
		c.Actors.Close()
	})
	return c
}
