package locks

import (
	"testing"
	"time"
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
	c := newClient(t, url, 2*time.Second)
	n := &name{shard: new(shardLines)}
	x := new(section)
	x.initSection(c.Clock, c.exec)
	n.shard.init(&c.waits, x)
	n.line.init(n, "orders")
	return n
}
