package simulation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// patience bounds the wait for what servers do among themselves.
const patience = time.Minute

// scene is a cluster of three masters, servers 0 to 2, with one replica each, servers 3 to 5,
// and what its clients saw.
type scene struct {
	testing.TB
	addrs       []string
	ids         []string
	dial        func(server int) (redis.Conn, error)
	kill, start func(server int)
	stays       func(server int, stays bool) // no replica is elected in its master's place
	seen        []string
}

func realCluster(t *testing.T) *scene {
	// A busy machine must not make a server look dead.
	c := topologytest.StartReplicatedFronted(t, 3*time.Second, nil, 1, 1, 1)
	g := &scene{TB: t}
	t.Cleanup(g.tell)
	for i, s := range c.Servers {
		g.addrs, g.ids = append(g.addrs, s.Addr()), append(g.ids, c.ID(i))
	}
	g.dial = func(i int) (redis.Conn, error) {
		return redis.Dial("tcp", g.addrs[i], redis.DialReadTimeout(patience))
	}
	g.kill = func(i int) { c.Servers[i].Kill() }
	g.start = func(i int) { c.Servers[i].Restart() }
	g.stays = func(i int, stays bool) {
		word := map[bool]string{true: "yes", false: "no"}[stays]
		if _, err := c.Conn(i).Do("CONFIG", "SET", "cluster-replica-no-failover", word); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func modelCluster(t *testing.T, seed uint64) (*scene, *simredis.Cluster) {
	w := simnet.New(seed)
	w.Mu.Lock()
	defer w.Mu.Unlock()
	c := simredis.NewCluster(w, 3, 1)
	c.NodeTimeout = 3 * time.Second
	g := &scene{TB: t}
	t.Cleanup(g.tell)
	for _, s := range c.Servers {
		g.addrs, g.ids = append(g.addrs, s.Addr), append(g.ids, s.Command("MYID").(string))
	}
	g.dial = func(i int) (redis.Conn, error) {
		conn, err := w.Dialer("10.1.0.1")(context.Background(), "tcp", g.addrs[i])
		if err != nil {
			return nil, err
		}
		return redis.NewConn(conn, patience, patience), nil
	}
	locked := func(f func()) { w.Mu.Lock(); defer w.Mu.Unlock(); f() }
	g.kill = func(i int) { locked(func() { c.Servers[i].Kill(false) }) }
	g.start = func(i int) { locked(func() { c.Servers[i].Start(false) }) }
	g.stays = func(i int, stays bool) { locked(func() { c.Servers[i].NoFailover = stays }) }
	return g, c
}

// viewer is a client's connection to one server.
type viewer struct {
	g    *scene
	name string
	conn redis.Conn
}

func (g *scene) viewer(name string, server int) *viewer {
	conn, err := g.dial(server)
	if err != nil {
		g.Fatal(err)
	}
	g.Cleanup(func() { conn.Close() })
	return &viewer{g: g, name: fmt.Sprintf("%s at %d", name, server), conn: conn}
}

// tell logs what was seen before a test failed.
func (g *scene) tell() {
	if g.Failed() {
		g.Logf("seen before:\n%s", strings.Join(g.seen[max(0, len(g.seen)-150):], "\n"))
	}
}

func (g *scene) title(text string) { g.seen = append(g.seen, "# "+text) }

// named replaces addresses and ids.
func (g *scene) named(text string) string {
	for i := range g.addrs {
		text = strings.ReplaceAll(strings.ReplaceAll(text, g.addrs[i], fmt.Sprint("server ", i)), g.ids[i], fmt.Sprint("id ", i))
	}
	return text
}

func (v *viewer) note(text string) { v.g.seen = append(v.g.seen, v.g.named(v.name+": "+text)) }

func (v *viewer) ask(args []any) string {
	return v.g.named(show(v.conn.Do(args[0].(string), args[1:]...)))
}

func asked(args []any) string {
	return strings.TrimSuffix(strings.ReplaceAll(fmt.Sprintln(args...), strings.Repeat("0", 40), "SHA"), "\n")
}

// does sends one command.
func (v *viewer) does(args ...any) { v.note(asked(args) + " -> " + v.ask(args)) }

// until repeats a command while the answer is still the same as before, until it has that
// in it.
func (v *viewer) until(before, want string, args ...any) {
	v.g.Helper()
	began := time.Now()
	for ; ; time.Sleep(5 * time.Millisecond) {
		text := v.ask(args)
		if still := strings.Contains(text, before); !still || time.Since(began) > patience {
			v.note(asked(args) + " -> at last " + text)
			if !strings.Contains(text, want) {
				v.g.Errorf("%s: %s: %s where %q should follow %q", v.name, asked(args), text, want, before)
			}
			return
		}
	}
}

// listens subscribes, one channel at a time.
func (v *viewer) listens(command, channel string) {
	_ = v.conn.Send(command, channel)
	v.conn.Flush()
	v.hears(1)
}

// hears waits for so many messages.
func (v *viewer) hears(n int) {
	for range n {
		m, err := v.conn.Receive()
		v.note("hears " + show(m, err))
		if _, late := errors.AsType[net.Error](err); late {
			v.g.Fatalf("%s hears nothing more", v.name)
		}
	}
}

// silent tells that nothing more has come.
func (v *viewer) silent() {
	_ = v.conn.Send("PING")
	v.conn.Flush()
	v.hears(1)
}

func (g *scene) becomes(what string, is func() bool) {
	g.Helper()
	for began := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > patience {
			g.Fatal("it never came about: " + what)
		}
	}
}

// knows tells whether the server calls another one by that word.
func (v *viewer) knows(server int, flag string) bool {
	text, _ := redis.String(v.conn.Do("CLUSTER", "NODES"))
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); words[0] == v.g.ids[server] {
			return slices.Contains(strings.Split(words[2], ","), flag)
		}
	}
	return false
}

// like compares what was seen with what another cluster's clients saw.
func (g *scene) like(other string, want []string) {
	g.Helper()
	title, wrong := "", 0
	at := func(all []string, i int) string {
		if i < len(all) {
			return all[i]
		}
		return "nothing"
	}
	for i := range max(len(want), len(g.seen)) {
		a, b := at(want, i), at(g.seen, i)
		if strings.HasPrefix(a, "#") {
			title = a
		}
		if a != b {
			if wrong++; wrong < 10 {
				g.Errorf("%s, line %d:\n%9s %s\n%9s %s", title, i+1, other, a, "here", b)
			}
		}
	}
	if wrong > 0 {
		g.Errorf("%d of %d lines differ", wrong, len(g.seen))
	}
}

// show is a reply or an error as text.
func show(v any, err error) string {
	switch v := v.(type) {
	case nil:
		if err != nil {
			return "error " + err.Error()
		}
		return "nil"
	case []byte:
		return fmt.Sprintf("%q", v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			if e, ok := v[i].(redis.Error); ok {
				parts[i] = "error " + string(e)
			} else {
				parts[i] = show(v[i], nil)
			}
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprintf("%T %v", v, v)
}
