package topologytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gomodule/redigo/redis"
)

// Forget restarts a server without its nodes.conf. The others take it for a new server,
// and for them the old one keeps its slots but has no address. They must serve without
// those slots: set cluster-require-full-coverage to no.
func (c *Cluster) Forget(server int) {
	c.t.Helper()
	c.loseConfig(server)
	for i := range c.Servers {
		if i == server {
			continue
		}
		c.await("a server has no address", func() bool {
			return strings.Contains(c.text(i, "CLUSTER", "NODES"), c.ids[server]+" :0@0 ")
		})
	}
}

// Secede restarts a server as the only one of another cluster, with another id and all slots.
func (c *Cluster) Secede(server int) {
	c.t.Helper()
	c.loseConfig(server)
	c.give(server, 0, slotCount-1)
	c.await("the other cluster serves", func() bool {
		return strings.Contains(c.text(server, "CLUSTER", "INFO"), "cluster_state:ok")
	})
}

// loseConfig restarts a server without its nodes.conf.
func (c *Cluster) loseConfig(server int) {
	c.t.Helper()
	dir, err := redis.Strings(c.do(server, "CONFIG", "GET", "dir"), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.Servers[server].Kill()
	if err := os.Remove(filepath.Join(dir[1], fmt.Sprintf("nodes-%d.conf", server))); err != nil {
		c.t.Fatal(err)
	}
	c.Servers[server].Restart()
	c.conns[server] = c.Servers[server].Dial(c.t)
}
