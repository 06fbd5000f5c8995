package waiting

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
	"github.com/rlock-go/redisson/internal/topology"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// name is a name that has nothing but its line.
type name struct {
	Line
	shard *Shard
}

func (n *name) Waiting() *Shard { return n.shard }

func (n *name) DropIfIdle() {}

// newName makes a name of a client for the server of a URL. The client ends with the test.
func newName(t *testing.T, url string) *name {
	t.Helper()
	c, s := new(core.Client), new(Client)
	err := c.Init(core.Config{
		Watchdog: 30 * time.Second, Timeout: 2 * time.Second, Clock: clock.System(),
		Topology: func(s topology.Settings) (topology.Topology, error) { return topology.Open(url, s) },
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Shut()
		c.Top.Close(time.Second)
		c.Timers.Wait()
		c.Actors.Close()
	})
	s.Init(c)
	n := &name{shard: new(Shard)}
	x := new(section.Section)
	x.Init(c.Clock, c.Exec)
	n.shard.Init(s, x)
	n.Line.Init(n, "orders")
	return n
}
