package topology_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/internal/topology"
)

// logged holds the log so far.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// events writes to l.
func (l *logged) events() *eventlog.Log {
	return eventlog.New(slog.New(slog.NewTextHandler(l, nil)), "client")
}

func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// No server has its slots. All others work, for existing clients and for new ones.
func TestMasterThatForgotTheClusterCostsItsOwnSlotsOnly(t *testing.T) {
	t.Parallel()
	c := topologytest.StartFronted(t, func(int) redistest.Front {
		return redistest.Front{Args: []string{"--cluster-require-full-coverage", "no"}}
	}, 1, 1, 1)
	before := openCluster(t, c, nil)
	before.answered(keyOn(1), "GET")
	c.Forget(0)
	var log logged
	after := openCluster(t, c, func(s *topology.Settings) { s.Log = log.events() })
	if err := after.top.(*topology.Cluster).Prove(t.Context()); err != nil {
		t.Errorf("a new client: %v", err)
	}
	for _, g := range []*clusterRig{before, after} {
		for master := 1; master <= 2; master++ {
			g.answered(keyOn(master), "GET")
		}
	}
	for range 2 {
		looked := topology.Looked(after.top)
		if r := after.send(keyOn(0), "GET"); r.Wire.Err == nil || !strings.Contains(r.Wire.Err.Error(), "no port: 0") {
			t.Errorf("of a slot that nobody serves: %v, %v", r.Wire.Reply, r.Wire.Err)
		}
		<-looked
	}
	if n := log.count("slots without a server"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
	// Moves of other slots are still learned from maps.
	slot := c.Slots(1)[0]
	c.Move(1, 2, slot)
	before.becomes("a map has told of a slot that moved", func() bool {
		before.send(keyOn(0), "GET") // makes it look
		n, err := before.top.Node(slot)
		return err == nil && n.String() == c.Servers[2].Addr()
	})
}
