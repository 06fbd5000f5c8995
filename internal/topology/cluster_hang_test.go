package topology_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/internal/topology"
)

// A command is in flight to it. The command timeout is longer than the test.
func TestMasterThatHangsIsLeftWhenTheNextOneServes(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	g := openCluster(t, c, func(s *topology.Settings) { s.Timeout = farOff })
	key := keyOn(0)
	g.answered(key, "GET")
	c.Servers[0].Pause()
	defer c.Servers[0].Resume()
	lost := &command.Request{Slot: codec.Slot(key), Until: clock.Never}
	lost.Wire.Command, lost.Wire.Args = "SET", []any{key, 1}
	var ended atomic.Pointer[string]
	go func() {
		fate := fmt.Sprint(g.x.Do(lost), lost.MayArrive)
		ended.Store(&fate)
	}()
	next := c.Replica(0)
	redistest.Settles(t, "there is another master", func() bool { return c.KnowsMaster(next, next) })
	g.becomes("its node is that one", func() bool { return g.at(key) == c.Servers[next].Addr() })
	g.becomes("the command has ended", func() bool { return ended.Load() != nil })
	if want := fmt.Sprint(command.Lost, false); *ended.Load() != want {
		t.Errorf("%s, want %s: %v", *ended.Load(), want, lost.Wire.Err)
	}
	g.answered(key, "GET")
}
