package topology_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

// tracker records what a node reports about changes.
type tracker struct{ told, untold chan error }

func (t tracker) Tracked(*topology.Node, bool)          { t.told <- nil }
func (t tracker) Changed([]byte)                        {}
func (t tracker) Untracked(_ *topology.Node, why error) { t.untold <- why }

// The hub may be about to get another connection. So a listener on another server is reported only if that lasts.
func TestListenerElsewhereIsSaidWhenThatLasts(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a time passes")
	const patience = 2 * time.Second // a hub that hears nothing for this long reconnects, then to s
	s, other := redistest.Start(t), redistest.Start(t)
	var dials atomic.Int32
	top, err := topology.Open(s.URL(), topology.Settings{Timeout: patience, Clock: clock.System(), Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dials.Add(1) == 1 { // the hub's
			addr = other.Addr()
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close(timeout)
	by, n := tracker{make(chan error, 10), make(chan error, 5000)}, top.Nodes()[0]
	n.Track(by)
	<-by.told
	began, done := time.Now(), make(chan bool)
	r := &pipeline.Request{Command: "EXISTS", Args: []any{"orders"}, Track: true, Done: pipeline.CompletionFunc(func(*pipeline.Request) { close(done) })}
	if !n.Pipe.Enqueue(r, 0) {
		t.Fatal(r.Err)
	}
	n.Pipe.Flush()
	<-done
	track := func() {
		n.Track(by)
		time.Sleep(time.Millisecond)
	}
	for len(by.untold) == 0 && t.Context().Err() == nil {
		track()
	}
	if took := time.Since(began); took < patience {
		t.Errorf("said after %v", took)
	}
	said := <-by.untold
	for range 100 { // it is said once
		track()
	}
	if !errors.Is(said, pipeline.ErrNoListener) || len(by.untold) > 0 || dials.Load() != 2 {
		t.Errorf("%v, %d more, %d connections", said, len(by.untold), dials.Load())
	}
}
