package interop

import (
	"testing"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
)

// A plain run leaves these to the matrix.
func TestInteropBehindSentinels(t *testing.T) {
	showAt(t, func() string { return redistest.StartSentinels(t, redistest.SentinelPasswords{}).URL() })
}

func TestInteropInACluster(t *testing.T) {
	showAt(t, func() string { return topologytest.StartReplicated(t, 1, 1, 1).ClusterURL() })
}

func showAt(t *testing.T, start func() string) {
	if !*full {
		t.Skip("with -full only")
	}
	url := start()
	for _, version := range []string{javapeer.Newest, "3.21.3"} {
		t.Run(version, func(t *testing.T) {
			w := NewWorld(t, version, redisserver.Given(t, url))
			for _, b := range Behaviours {
				if b.Brief {
					t.Run(b.Name, func(t *testing.T) { w.Show(t, b) })
				}
			}
			for _, b := range FencedBehaviours {
				if b.Brief {
					t.Run("Fenced"+b.Name, func(t *testing.T) { w.Show(t, b) })
				}
			}
			w.CheckNothingIsLeft(t)
		})
	}
}
