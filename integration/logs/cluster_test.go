package logs_test

import (
	"log/slog"
	"testing"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// forgetful is a cluster of which one master came back without its nodes.conf.
func forgetful(t *testing.T, s redisserver.Server) []*rig {
	c := topologytest.StartFronted(t, func(int) redistest.Front {
		return redistest.Front{Args: []string{"--cluster-require-full-coverage", "no"}}
	}, 1, 1, 1)
	c.Forget(0)
	r := &rig{Proxied: testbed.NewProxied(t, s), seen: newCapture(slog.LevelDebug)}
	r.client = r.Open(c.ClusterURL(), rlock.WithLogger(slog.New(r.seen)), rlock.WithCommandTimeout(timeout))
	r.logged("slots without a server")
	return []*rig{r}
}
