package topology_test

import (
	"testing"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/internal/topology"
)

// uncovered makes servers serve without the slots of a dead one.
func uncovered(int) redistest.Front {
	return redistest.Front{Args: []string{"--cluster-require-full-coverage", "no"}}
}

// The other cluster's server accepts the client's credentials, and says that it has every slot.
func TestClientStaysWithItsClusterWhenAnotherGetsAServersAddress(t *testing.T) {
	t.Parallel()
	c := topologytest.StartFronted(t, uncovered, 1, 1, 1)
	g := openCluster(t, c, nil)
	for master := range 3 {
		g.answered(keyOn(master), "SET", 1)
	}
	c.Secede(0)
	n, err := g.top.Node(codec.Slot(keyOn(0)))
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		n.Pipe.Enqueue(&pipeline.Request{Command: "SET", Args: []any{keyOn(0), 1}, Done: pipeline.CompletionFunc(func(*pipeline.Request) {})}, 0)
		n.Pipe.Flush()
		looked := topology.Looked(g.top)
		topology.LookNow(g.top)
		<-looked
		for master := 1; master <= 2; master++ {
			g.answered(keyOn(master), "SET", 1)
		}
	}
	if n := topologytest.Calls(t, c.Conn(0), "set"); n > 0 {
		t.Errorf("the other cluster got %d commands", n)
	}
}

// Its only server came back without its nodes.conf, so it has another id.
func TestClientFollowsItsURLToAClusterThatWasMadeAnew(t *testing.T) {
	t.Parallel()
	c := topologytest.StartFronted(t, uncovered, 1)
	g := openCluster(t, c, nil)
	g.answered("key", "SET", 1)
	c.Secede(0)
	g.becomes("the new cluster is used", func() bool {
		r := g.send("key", "GET")
		return r.Wire.Err == nil && r.Wire.Reply == nil
	})
}

// A proxy of a cluster may have an id of its own, or none.
func TestIDsThatAServerDoesNotSayAreNotChecked(t *testing.T) {
	t.Parallel()
	for _, refused := range []string{"myid", "nodes"} {
		t.Run(refused, func(t *testing.T) {
			t.Parallel()
			c := topologytest.StartFronted(t, uncovered, 1)
			if _, err := c.Conn(0).Do("ACL", "SETUSER", "default", "-cluster|"+refused); err != nil {
				t.Fatal(err)
			}
			var log logged
			for range 2 {
				g := openCluster(t, c, func(s *topology.Settings) { s.Log = log.events() })
				g.answered("key", "SET", 1)
				g.answered("key", "SET", 1)
			}
			// Lines are logged in the background.
			redistest.Becomes(t, "each client has logged it", func() bool { return log.count("node ids not checked") >= 2 })
			if n := log.count("node ids not checked"); n != 2 {
				t.Errorf("two clients have logged it %d times", n)
			}
		})
	}
}
