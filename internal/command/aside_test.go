package command_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

// withReplica is an executor whose only node uses a second connection.
func withReplica(t *testing.T) *rig {
	t.Helper()
	s := redistest.Start(t)
	s.StartReplica(t)
	top, err := topology.Open(s.URL(), topology.Settings{Timeout: timeout, Clock: clock.System(), Replicas: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { top.Close(timeout) })
	return &rig{s: s, top: top, x: executor(top, clock.System().Now)}
}

// A pipeline writes what its own handlers queue. What they queue for the node's other connection
// must be written too, although nobody flushes.
func TestWhatAHandlerQueuesForTheOtherConnectionIsWritten(t *testing.T) {
	t.Parallel()
	g := withReplica(t)
	ended := make(chan *command.Request, 1)
	set := func(aside bool, then func()) *command.Request {
		r := &command.Request{Wait: true, Aside: aside}
		r.Command("SET", "k", "v")
		r.Handler = command.DoneFunc(func(r *command.Request) {
			if then != nil {
				then()
				return
			}
			ended <- r
		})
		return r
	}
	last := func() *command.Request {
		t.Helper()
		select {
		case r := <-ended:
			if r.Fate != command.Answered || r.Wire.Replicas != 1 {
				t.Fatalf("%v, %v, %d replicas", r.Fate, r.Wire.Err, r.Wire.Replicas)
			}
			return r
		case <-time.After(10 * timeout):
			t.Fatal("it is not written")
			return nil
		}
	}
	g.x.Enqueue(set(false, nil))
	g.x.Flush()
	last() // from now on WAITs are sent, on the second connection
	for _, first := range []bool{false, true} {
		g.x.Enqueue(set(first, func() { g.x.Enqueue(set(!first, nil)) }))
		g.x.Flush()
		if r := last(); r.WentAside == first {
			t.Errorf("both went the same way, aside: %t", first)
		}
	}
}
