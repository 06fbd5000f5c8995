package topologytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gomodule/redigo/redis"
)

// Forget has a server come back without its nodes.conf. To the others it is
// another one, and the one that it was has slots and no address. They must not
// need it: set cluster-require-full-coverage to no.
func (c *Cluster) Forget(server int) {
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
	for i := range c.Servers {
		if i == server {
			continue
		}
		c.await("a server has no address", func() bool {
			return strings.Contains(c.text(i, "CLUSTER", "NODES"), c.ids[server]+" :0@0 ")
		})
	}
}
