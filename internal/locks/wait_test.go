package locks

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/topology"
)

// name is a name that has nothing but its line.
type name struct {
	line
	shard *shardLines
}

func (n *name) Waiting() *shardLines { return n.shard }

func (n *name) DropIfIdle() {}

// newName makes a name of a client for the server of a URL. The client ends with the test.
func newName(t *testing.T, url string) *name {
	t.Helper()
	c, s := new(core), new(allLines)
	err := c.init(Settings{
		Watchdog: 30 * time.Second, Timeout: 2 * time.Second, Clock: clock.System(),
		Topology: func(s topology.Settings) (topology.Topology, error) { return topology.Open(url, s) },
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.shut()
		c.top.Close(time.Second)
		c.timers.Wait()
		c.actors.Close()
	})
	s.init(c)
	n := &name{shard: new(shardLines)}
	x := new(section)
	x.initSection(c.Clock, c.exec)
	n.shard.init(s, x)
	n.line.init(n, "orders")
	return n
}
