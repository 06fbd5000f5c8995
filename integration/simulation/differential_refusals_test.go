package simulation

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// refusal compares for a while how commands are refused.
func (c *comparison) refusal() {
	c.flush()
	for range 2 { // there is something
		c.batch()
	}
	d := c.d
	switch d.r.IntN(10) {
	case 0, 1, 2:
		names := []string{"publish", "pexpire", "hincrby", "get", "evalsha", "wait", "hset", "del", "set", "exists", "hexists", "zadd"}
		if !d.old {
			names = append(names, "spublish", "client|kill", "script|load", "client")
		}
		one, two := pick(d, names...), pick(d, names...)
		c.set(func() { c.both(another, "ACL", "SETUSER", "default", "-"+one, "-"+two) })
		c.both(another, "ACL", "SETUSER", "default", "+"+one, "+"+two)
		c.both(another, "ACL", "SETUSER", "default", "+@all")
	case 3:
		c.set(func() { c.both(another, "CONFIG", "SET", "maxmemory", "1") })
		c.both(another, "CONFIG", "SET", "maxmemory", "0")
	case 4:
		c.set(func() { c.both(another, "CONFIG", "SET", "min-replicas-to-write", "1") })
		c.both(another, "CONFIG", "SET", "min-replicas-to-write", "0")
	case 5:
		c.set(func() { c.both(another, "REPLICAOF", "127.0.0.1", "1") })
		c.both(another, "REPLICAOF", "NO", "ONE")
	case 6:
		c.set(c.breaks)
		c.real.conns[another].ask(c.t, "CONFIG", "SET", "save", "")
		c.modelIs(func() { c.model.s.Broken = false })
	case 7:
		c.busy()
	case 8:
		c.strangers()
	case 9:
		c.both(another, "SCRIPT", "FLUSH")
		c.batch()
		for _, script := range luasrc.Scripts() {
			c.both(teller, "SCRIPT", "LOAD", script.Source)
		}
	}
}

// set makes a refusal and compares under it.
func (c *comparison) set(refuse func()) {
	refuse()
	for range 3 {
		c.batch()
	}
}

func (c *comparison) modelIs(f func()) {
	c.model.w.Mu.Lock()
	defer c.model.w.Mu.Unlock()
	f()
}

// breaks lets a snapshot fail.
func (c *comparison) breaks() {
	admin := c.real.conns[another]
	admin.ask(c.t, "CONFIG", "SET", "save", "3600 100000000")
	admin.ask(c.t, "CONFIG", "SET", "dir", "/proc")
	for !strings.Contains(admin.ask(c.t, "INFO", "persistence"), "rdb_last_bgsave_status:err") {
		admin.ask(c.t, "BGSAVE")
		time.Sleep(5 * time.Millisecond)
	}
	c.modelIs(func() { c.model.s.Broken = true })
}

// busy compares while a script runs that does not end.
func (c *comparison) busy() {
	admin := c.real.conns[another]
	admin.ask(c.t, "CONFIG", "SET", "lua-time-limit", "1")
	loop := c.real.dial(c.t)
	defer loop.c.Close()
	if _, err := loop.c.Write(encode(nil, []string{"EVAL", "while true do end", "0"})); err != nil {
		c.t.Fatal(err)
	}
	for !strings.Contains(admin.ask(c.t, "PING"), "BUSY") {
		time.Sleep(time.Millisecond)
	}
	c.modelIs(func() { c.model.s.Busy = true })
	c.d.short = false
	for range 20 {
		cmd := c.d.command()
		if cmd[0] == "CLIENT" || cmd[0] == "SCRIPT" { // the subcommands of old servers
			continue
		}
		c.compare(another, [][]string{cmd}, []answer{{reply: []byte(admin.ask(c.t, cmd...))}})
	}
	if server, model := c.both(another, "SCRIPT", "KILL"); server != model {
		c.differs("SCRIPT KILL", [][]string{{"SCRIPT", "KILL"}}, []byte(server), []byte(model))
	}
	if _, err := loop.receive(nil); err != nil {
		c.t.Fatal(err)
	}
	admin.ask(c.t, "CONFIG", "SET", "lua-time-limit", "5000")
}

// strangers compares what new connections are told: without a password, behind too many, killed.
func (c *comparison) strangers() {
	c.both(another, "CONFIG", "SET", "requirepass", "secret")
	w := c.real.dial(c.t)
	var s = c.model.session()
	for _, cmd := range []string{
		"GET k1", "PING", "NOSUCH", "GET", "AUTH wrong", "AUTH default wrong", "HELLO", "HELLO 2 AUTH default wrong", "EVALSHA 00 0", "SUBSCRIBE a",
		pick(c.d, "AUTH secret", "AUTH default secret"), "GET k1", "PING", "QUIT",
	} {
		args := strings.Fields(cmd)
		c.same(args, w.ask(c.t, args...), c.model.on(s, args))
	}
	w.c.Close()
	c.both(another, "CONFIG", "SET", "requirepass", "")

	w, s = c.real.dial(c.t), c.model.session()
	kill := func(id string) []string { return []string{"CLIENT", "KILL", "ID", id} }
	theirs, ours := id(w.ask(c.t, "CLIENT", "ID")), id(c.model.on(s, []string{"CLIENT", "ID"}))
	server := c.real.conns[another].ask(c.t, kill(theirs)...)
	c.same(kill("its"), server, string(c.model.do(another, 0, kill(ours))))
	w.c.Close()
	c.crowded()

	server = c.real.conns[another].ask(c.t, kill(theirs)...)
	c.same(kill("its"), server, string(c.model.do(another, 0, kill(ours))))
}

// crowded compares what a connection is told that is one too many.
func (c *comparison) crowded() {
	c.both(another, "CONFIG", "SET", "maxclients", "1")
	w, s := c.real.dial(c.t), c.model.session()
	server, err := w.receive(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.same([]string{"a connection"}, string(server), c.model.received(s))
	if _, err := w.receive(nil); !errors.Is(err, io.EOF) || !s.Ended() {
		c.t.Errorf("one connection too many: %v, model ended %v", err, s.Ended())
	}
	c.both(another, "CONFIG", "SET", "maxclients", "1000")
}

func (c *comparison) same(cmd []string, server, model string) {
	c.steps++
	if server != model && excused(c.real.version, []byte(server), []byte(model)) == "" {
		c.differs(cmd[0]+" of a stranger", [][]string{cmd}, []byte(server), []byte(model))
	}
}
