package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/topology"
)

// reader asks the masters, each on one connection. One goroutine uses it.
type reader struct {
	*server
	raw       string // the URL
	parts     topology.Parts
	sentinels *redisconn.Target
	nodes     map[string]*node // by address

	slots   []slots   // of a cluster, once known
	learned time.Time // when they were asked
	gaps    gaps
}

// slots are those from first to last, which one master has.
type slots struct {
	first, last int
	master      *node
	err         error // why it can't be reached
}

// node is a connection to one server, made again once it is broken.
type node struct {
	addr    string
	conn    redis.Conn
	broken  bool
	timeout time.Duration
}

// command is one with its arguments.
type command []any

// largest is what a reply may have in bytes: a queue, or a large SCAN.
const largest = 64 << 20

func (r *reader) close() {
	for _, n := range r.nodes {
		n.conn.Close()
	}
	clear(r.nodes)
	r.slots = nil
}

// dial connects to a server that is reached as t is.
func (r *reader) dial(ctx context.Context, t *redisconn.Target, addr string) (*node, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	c, err := t.At(addr).Dial(ctx, r.timeout)
	if err != nil {
		return nil, err
	}
	if c, ok := c.(*redisconn.Conn); ok {
		c.Admit(largest)
	}
	return &node{addr: addr, conn: c, timeout: r.timeout}, nil
}

// at is the one connection to a server.
func (r *reader) at(ctx context.Context, addr string) (*node, error) {
	known := r.nodes[addr]
	if known != nil && !known.broken {
		return known, nil
	}
	n, err := r.dial(ctx, r.parts.Target, addr)
	if err != nil {
		return nil, err
	}
	if known != nil {
		known.conn, known.broken = n.conn, false
		return known, nil
	}
	r.nodes[addr] = n
	return n, nil
}

// pipe sends commands together and gives the reply of each; a server's error
// is a reply. The server runs them one after the other, mostly with nothing
// between: they were written at once.
func (n *node) pipe(ctx context.Context, commands ...command) ([]any, error) {
	stop := context.AfterFunc(ctx, func() { n.conn.(*redisconn.Conn).Interrupt() })
	defer stop()
	replies, err := n.sent(commands)
	if err != nil {
		n.conn.Close()
		n.broken = true
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, unreachableError(fmt.Errorf("%s: %w", n.addr, err))
	}
	return replies, nil
}

func (n *node) sent(commands []command) (replies []any, err error) {
	for _, c := range commands {
		if err := n.conn.Send(c[0].(string), c[1:]...); err != nil {
			return nil, err
		}
	}
	if err := n.conn.Flush(); err != nil {
		return nil, err
	}
	for range commands {
		reply, err := redis.ReceiveWithTimeout(n.conn, n.timeout)
		if said, ok := errors.AsType[redis.Error](err); ok {
			reply = said
		} else if err != nil {
			return nil, err
		}
		replies = append(replies, reply)
	}
	return replies, nil
}

// do sends one command. A server's error is its error.
func (n *node) do(ctx context.Context, name string, args ...any) (any, error) {
	replies, err := n.pipe(ctx, append(command{name}, args...))
	if err != nil {
		return nil, err
	}
	if said, ok := replies[0].(redis.Error); ok {
		return nil, said
	}
	return replies[0], nil
}

// masters are those that can be asked, by address; of a cluster, gaps has the others.
func (r *reader) masters(ctx context.Context) ([]*node, error) {
	switch {
	case r.parts.Master != "":
		n, err := r.behindSentinels(ctx)
		return []*node{n}, err
	case r.parts.Cluster:
		return r.clusterMasters(ctx)
	}
	n, err := r.alone(ctx)
	return []*node{n}, err
}

// alone is the server of a redis:// URL, which must be a master: a replica may be
// behind, and a node of a cluster has a part of the locks.
func (r *reader) alone(ctx context.Context) (*node, error) {
	n, err := r.at(ctx, r.parts.Servers[0])
	if err != nil {
		return nil, unreachableError(err)
	}
	said, err := n.said(ctx)
	if err == nil {
		err = said.Usable()
	}
	if err != nil {
		return nil, &exit{unreachable, err}
	}
	return n, nil
}

// said is what a server says of itself.
func (n *node) said(ctx context.Context) (s redisconn.Server, err error) {
	replies, err := n.pipe(ctx, command{"HELLO"}, command{"ROLE"})
	if err != nil {
		return s, err
	}
	helloErr, _ := replies[0].(error)
	roleErr, _ := replies[1].(error)
	s, err = redisconn.DecodeServer(replies[0], helloErr, replies[1], roleErr)
	s.Addr = n.addr
	return s, err
}

// of is the master that has a key.
func (r *reader) of(ctx context.Context, key string) (*node, error) {
	all, err := r.masters(ctx)
	if err != nil || !r.parts.Cluster {
		return all[0], err
	}
	return r.serving(key)
}

// by has names by the master that has them. gaps has those that can't be asked for.
func (r *reader) by(ctx context.Context, names iter.Seq[string]) (map[*node][]string, error) {
	all, err := r.masters(ctx)
	if err != nil {
		return nil, err
	}
	by := map[*node][]string{}
	for name := range names {
		n := all[0]
		if r.parts.Cluster {
			if n, err = r.serving(name); err != nil {
				r.gaps.name(name, err)
				continue
			}
		}
		by[n] = append(by[n], name)
	}
	return by, nil
}

// asked asks each Sentinel until one has the answer.
func (r *reader) asked(ctx context.Context, args ...any) (reply any, err error) {
	var errs []error
	for _, addr := range r.parts.Servers {
		s, err := r.dial(ctx, r.sentinels, addr)
		if err == nil {
			reply, err = s.do(ctx, "SENTINEL", args...)
			s.conn.Close()
		}
		if err == nil && reply == nil {
			err = fmt.Errorf("sentinel %s knows no master %q", addr, r.parts.Master)
		}
		if err == nil {
			return reply, nil
		}
		errs = append(errs, err)
	}
	return nil, unreachableError(errors.Join(errs...))
}

// behindSentinels is the master that they name. A connection is kept while it
// works: its role is looked at, as the Sentinels may be late.
func (r *reader) behindSentinels(ctx context.Context) (*node, error) {
	for _, n := range r.nodes {
		if said, err := n.said(ctx); err == nil && said.Role == "master" {
			return n, nil
		}
	}
	r.close()
	reply, err := r.asked(ctx, "GET-MASTER-ADDR-BY-NAME", r.parts.Master)
	if err != nil {
		return nil, err
	}
	named, err := redis.Strings(reply, nil)
	if err != nil || len(named) != 2 {
		return nil, unreachableError(fmt.Errorf("a Sentinel answered %v, %v", reply, err))
	}
	n, err := r.at(ctx, net.JoinHostPort(named[0], named[1]))
	if err != nil {
		return nil, unreachableError(err)
	}
	said, err := n.said(ctx)
	if err != nil {
		return nil, err
	}
	if replica := said.Usable(); replica != nil { // if it does not say, the Sentinels are believed
		return nil, unreachableError(fmt.Errorf("the Sentinels name what is no master; in a failover, try again in some seconds: %w", replica))
	}
	return n, nil
}
