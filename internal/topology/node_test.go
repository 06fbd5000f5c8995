package topology_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

// A topology learns from commands and from subscriptions that a server can't be reached.
func TestNodeThatCannotBeReachedIsTold(t *testing.T) {
	t.Parallel()
	refused := errors.New("nobody listens")
	for name, use := range map[string]func(*topology.Node){
		"a command": func(n *topology.Node) {
			n.Pipe.Enqueue(&pipeline.Request{Command: "PING", Done: pipeline.CompletionFunc(func(*pipeline.Request) {})}, 0)
			n.Pipe.Flush()
		},
		"a subscription": func(n *topology.Node) { n.Hub.Subscribe("c", make(listener, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			var told atomic.Int32
			n := topology.NewNode(topology.Settings{Timeout: timeout, Clock: clock.System()}, topology.NodeOptions{
				Dial: func(context.Context) (redis.Conn, error) { return nil, refused },
				Node: pipeline.Node{Trouble: func(err error) {
					if errors.Is(err, refused) {
						told.Add(1)
					}
				}},
			})
			defer n.Abandon(0)
			use(n)
			redistest.Becomes(t, "it is told twice", func() bool { return told.Load() >= 2 })
		})
	}
}
