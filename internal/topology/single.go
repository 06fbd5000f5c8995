package topology

import (
	"context"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// Single is one server that serves every slot, dialled or reached through a pool. Its
// address may come to mean another server. So its connections are replaced when the
// server answers READONLY, or when its name leads to another address.
type Single struct {
	oneNode
	replicas bool // commands wait for replicas, one of which may take the server's place
}

// dialled makes the Single of a URL.
func dialled(target *redisconn.Target, s Settings) *Single {
	t := &Single{replicas: s.Replicas}
	t.begin(s, NodeOptions{Name: target.Address, Dial: func(ctx context.Context) (redis.Conn, error) {
		return target.Dial(ctx, s.Timeout)
	}})
	if target.Named() {
		t.tasks.Go(func() { watchAddress(t.life, target.Strays, s.Timeout, t.node.Redial) })
	}
	return t
}

// Borrowed makes the Single of a pool, whose server has no name here.
func Borrowed(pool redisconn.Pool, s Settings) *Single {
	t := &Single{replicas: s.Replicas}
	t.begin(s, NodeOptions{Lent: true, Dial: func(ctx context.Context) (redis.Conn, error) {
		return redisconn.Borrow(ctx, pool)
	}})
	return t
}

// FailsOver is true if commands wait for replicas.
func (t *Single) FailsOver() bool { return t.replicas }

// Close ends the node.
func (t *Single) Close(patience time.Duration) {
	t.end()
	t.tasks.Wait()
	CloseAll(t.nodes, patience)
	t.Feed.Close()
}
