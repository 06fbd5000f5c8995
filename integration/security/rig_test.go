package security

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/integration/kit/tool"
)

func TestMain(m *testing.M) { tool.Main(m, &program, "32") }

const (
	patience  = testbed.Patience
	pollEvery = 5 * time.Millisecond
	timeout   = 2 * time.Second // of one command, where errors are expected
)

// rig is a test with an all-powerful connection to its server.
type rig struct {
	*testbed.Rig
}

func on(t *testing.T, s redisserver.Server) *rig {
	t.Helper()
	return &rig{testbed.New(t, s)}
}

func unique() string { return rand.Text()[:10] }
