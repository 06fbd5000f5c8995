package topology

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// The roles that a word may have.
const (
	roleMaster  = "master"
	roleReplica = "slave"
)

// errNoWord is why nothing is known of a node that was asked.
var errNoWord = errors.New("no answer in time")

// word is what a listed node says of itself.
type word struct {
	of      string // the node's address in the URL
	place   string // the address that this one leads to; empty: unknown
	role    string // roleMaster or roleReplica; empty if err is set
	history string // the id of its data's history, which a master shares with its replicas only; empty: unknown
	err     error  // why it says nothing

	// Of a replica.
	master string // the address of its master, as it knows that; empty: unknown
	up     bool   // its connection to the master is up
}

// address is where others reach the node, as far as is known.
func (w word) address() string { return cmp.Or(w.place, w.of) }

// is tells whether addr is one of the node's addresses.
func (w word) is(addr string) bool { return addr != "" && (w.of == addr || w.place == addr) }

// dead tells whether nothing runs at the node's address, so that it can't be a master.
func (w word) dead() bool { return errors.Is(w.err, syscall.ECONNREFUSED) }

// same tells whether w and o are two names of one master.
func (w word) same(o word) bool { return w.of == o.of || w.history != "" && w.history == o.history }

// follows tells whether w is a replica of m. The replica may know its master by an address
// that the URL does not have, but then both have one history. One that does not say whose
// replica it is follows the master, since the URL lists one set.
func (w word) follows(m word) bool {
	return w.role == roleReplica && (w.master == "" || m.is(w.master) || w.up && w.history != "" && w.history == m.history)
}

// String says what the node is, for an error.
func (w word) String() string {
	switch {
	case w.err != nil:
		return w.of + ": " + w.err.Error()
	case w.role == roleMaster:
		return w.of + " is a master"
	case w.master == "":
		return w.of + " is a replica"
	case w.up:
		return w.of + " is a replica of " + w.master
	}
	return w.of + " is a replica of " + w.master + ", which it can't reach"
}

// listed is a node of the URL. The connection on which it is asked is kept.
type listed struct {
	target *redisconn.Target

	turn  chan struct{} // cap 1; it has an element while the node is being asked
	conn  redis.Conn    // nil: none; used by the goroutine whose turn it is
	place string        // where the last connection led; likewise
}

// ask asks the node for its role. ctx bounds all of it. timeout bounds each write.
func (n *listed) ask(ctx context.Context, timeout time.Duration) word {
	select {
	case n.turn <- struct{}{}:
	case <-ctx.Done():
		return word{of: n.target.Address, err: errNoWord}
	}
	defer func() { <-n.turn }()
	var w word
	var err error
	for kept := n.conn != nil; ; kept = false {
		if n.conn == nil {
			if n.conn, err = n.target.Dial(ctx, timeout); err != nil {
				n.conn = nil
				break
			}
			n.place = redisconn.Place(n.conn)
		}
		if w, err = n.receive(ctx); err == nil {
			break
		}
		n.close()
		if !kept || ctx.Err() != nil { // a connection that was kept may have ended long ago
			break
		}
	}
	w.of, w.place = n.target.Address, n.place
	if err != nil {
		w.err = redisconn.OwnDeadline(err)
	}
	return w
}

// close ends the kept connection.
func (n *listed) close() {
	if n.conn != nil {
		n.conn.(*redisconn.Conn).Interrupt() // nothing is expected on it
		_ = n.conn.Close()
		n.conn = nil
	}
}

// receive sends all questions at once and reads the answers.
func (n *listed) receive(ctx context.Context) (w word, err error) {
	err = n.conn.(*redisconn.Conn).Ask(ctx, func(c redis.Conn) error {
		for _, question := range [][]any{{"HELLO"}, {"ROLE"}, {"INFO", "replication"}} {
			if err := c.Send(question[0].(string), question[1:]...); err != nil {
				return err
			}
		}
		if err := c.Flush(); err != nil {
			return err
		}
		hello, helloErr := redisconn.Receive(ctx, c)
		role, roleErr := redisconn.Receive(ctx, c)
		info, infoErr := redis.String(redisconn.Receive(ctx, c))
		if infoErr != nil && !redisconn.IsRefusal(infoErr) {
			return infoErr
		}
		s, err := redisconn.DecodeServer(hello, helloErr, role, roleErr)
		if err != nil {
			return err
		}
		w = wordOf(s, info)
		if w.role == "" && w.err == nil {
			w.err = fmt.Errorf("it does not say its role: %w", errors.Join(roleErr, infoErr))
		}
		return nil
	})
	return w, err
}

// wordOf reads a node's answers. Each of them may be missing.
func wordOf(s redisconn.Server, info string) (w word) {
	said := map[string]string{}
	for line := range strings.Lines(info) {
		label, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		said[label] = value
	}
	w = word{role: s.Role, master: s.Master, up: s.Up, history: said["master_replid"]}
	if w.role == "" {
		w.role = said["role"]
	}
	if w.role == "replica" {
		w.role = roleReplica
	}
	if w.role == roleReplica && w.master == "" && said["master_host"] != "" {
		w.master, w.up = net.JoinHostPort(said["master_host"], said["master_port"]), said["master_link_status"] == "up"
	}
	if err := s.Usable(); errors.Is(err, redisconn.ErrTopology) {
		w.role, w.err = "", err
	}
	return w
}
