package topology_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

// farOff is longer than any failover takes here. It bounds none.
const farOff = 40 * time.Second

func openSet(t *testing.T, url string, change func(*topology.Settings)) *topology.Sentinel {
	t.Helper()
	s := topology.Settings{Timeout: timeout, Clock: clock.System()}
	if change != nil {
		change(&s)
	}
	top, err := topology.Open(url, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { top.Close(timeout) })
	return top.(*topology.Sentinel)
}

// send waits until a command is answered or has failed.
func send(t *testing.T, top topology.Topology, command string, args ...any) (any, error) {
	t.Helper()
	n, err := top.Node(0)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	r := &pipeline.Request{Command: command, Args: args, Done: pipeline.CompletionFunc(func(*pipeline.Request) { close(done) })}
	if !n.Pipe.Enqueue(r, 0) {
		t.Fatal(r.Err)
	}
	n.Pipe.Flush()
	select {
	case <-done:
	case <-time.After(farOff):
		t.Fatalf("%s has no end", command)
	}
	return r.Reply, r.Err
}

// port returns the port of the server that the topology's commands reach, or 0 if they reach none.
func port(t *testing.T, top topology.Topology) int {
	t.Helper()
	info, err := redis.String(send(t, top, "INFO", "server"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, "tcp_port:"); ok {
			n, _ := redis.Int([]byte(strings.TrimSpace(v)), nil)
			return n
		}
	}
	return 0
}

func becomes(t testing.TB, what string, is func() bool) { t.Helper(); redistest.Becomes(t, what, is) }

// connections counts a server's clients with this name.
func connections(t *testing.T, s *redistest.Server, name string) int {
	t.Helper()
	conn := s.Dial(t)
	defer conn.Close()
	list, err := redis.String(conn.Do("CLIENT", "LIST"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(list, " name="+name+" ")
}

// heard is a waiter on a channel.
type heard struct {
	mu        sync.Mutex
	confirmed int
	messages  []string
}

func (h *heard) Confirmed() { h.mu.Lock(); defer h.mu.Unlock(); h.confirmed++ }
func (h *heard) Message(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = append(h.messages, string(p))
}
func (h *heard) Refused(error) {}

func (h *heard) state() (int, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.confirmed, strings.Join(h.messages, " ")
}

// hatch dials all servers but those of shut, and closes its connections to those.
type hatch struct {
	mu   sync.Mutex
	shut []string
	open map[net.Conn]string
}

func (h *hatch) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.Contains(h.shut, addr) {
		return nil, errors.New("the hatch is shut")
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err == nil {
		h.open[conn] = addr
	}
	return conn, err
}

func (h *hatch) set(shut ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shut = shut
	for conn, addr := range h.open {
		if slices.Contains(shut, addr) {
			conn.Close()
		}
	}
}
