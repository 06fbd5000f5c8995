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

// reader asks the masters, each on one connection. Only one goroutine may use it.
type reader struct {
	*server
	raw       string // the URL
	parts     topology.Parts
	sentinels *redisconn.Target
	nodes     map[string]*node // by address

	slots   []slots   // of a cluster, once known
	learned time.Time // when the slots were read
	gaps    gaps

	instead *node     // the replica that is read instead of the one master; nil: none is
	looked  time.Time // when it was chosen
}

// slots is a range of slots that one master has.
type slots struct {
	first, last int
	master      *node
	err         error // why it can't be reached
}

// node is the connection to one server. A broken one is made again.
type node struct {
	addr    string
	conn    redis.Conn
	broken  bool
	timeout time.Duration
	instead error // of a replica: why its master is not read
}

// command is a command with its arguments.
type command []any

// largest bounds a reply in bytes, such as a queue or a large SCAN.
const largest = 64 << 20

func (r *reader) close() {
	for _, n := range r.nodes {
		n.conn.Close()
	}
	clear(r.nodes)
	r.slots = nil
}

// dial connects to addr with t's settings.
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

// at returns the one connection to a server, which it makes if need be.
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
		known.conn, known.broken, known.instead = n.conn, false, nil
		return known, nil
	}
	r.nodes[addr] = n
	return n, nil
}

// pipe sends commands together and returns the reply of each; a server's error is a reply. They
// are written at once, so the server mostly runs them with nothing in between.
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

// do sends one command. It returns a server's error as its error.
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

// masters returns the masters that can be asked, sorted by address; gaps has a cluster's others. With
// --read-only there are replicas among them, instead of masters that can't be read.
func (r *reader) masters(ctx context.Context) ([]*node, error) {
	if r.parts.Cluster {
		return r.clusterMasters(ctx)
	}
	n, err := r.master(ctx)
	return []*node{n}, err
}

// alone returns the server of a redis:// URL. It must be a master and no node of a
// cluster: a replica may be behind, and a node has only a part of the locks.
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

// amongReplicas returns the one node of the URL that says that it is a master. It keeps
// a connection while that node says so, as clients of the library do.
func (r *reader) amongReplicas(ctx context.Context) (master *node, err error) {
	for _, n := range r.nodes {
		if said, err := n.said(ctx); err == nil && said.Usable() == nil {
			return n, nil
		}
	}
	r.close()
	var errs []error
	for _, addr := range r.parts.Servers {
		n, err := r.at(ctx, addr)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		said, err := n.said(ctx)
		if err == nil {
			err = said.Usable()
		}
		switch {
		case err != nil:
			errs = append(errs, err)
		case master != nil:
			return nil, unreachableError(fmt.Errorf("%s and %s are both masters: make one a replica of the other", master.addr, addr))
		default:
			master = n
		}
	}
	if master == nil {
		return nil, unreachableError(fmt.Errorf("no node of the URL is a master: %w", errors.Join(errs...)))
	}
	for addr, n := range r.nodes {
		if n != master {
			n.conn.Close()
			delete(r.nodes, addr)
		}
	}
	return master, nil
}

// said asks a server what it is.
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

// of returns the master that has a key.
func (r *reader) of(ctx context.Context, key string) (*node, error) {
	all, err := r.masters(ctx)
	switch {
	case err != nil:
		return nil, err
	case r.parts.Cluster:
		return r.serving(key)
	}
	return all[0], nil
}

// by groups names by the master that has them. Names without a master that can be
// reached are in gaps.
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

// behindSentinels returns the master that the Sentinels name. It keeps a connection
// while that server says that it is master, because the Sentinels may be late.
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
	if replica := said.Usable(); replica != nil { // a server that does not say its role counts as a master
		return nil, unreachableError(fmt.Errorf("the Sentinels name what is no master; in a failover, try again in some seconds: %w", replica))
	}
	return n, nil
}
