package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
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
	slots     []slots          // of a cluster, once known
}

// slots are those from first to last, which one master has.
type slots struct {
	first, last int
	master      *node
}

// node is a connection to one server.
type node struct {
	addr    string
	conn    redis.Conn
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
	r.nodes, r.slots = map[string]*node{}, nil
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
	return &node{addr, c, r.timeout}, nil
}

// at is the one connection to a server.
func (r *reader) at(ctx context.Context, addr string) (*node, error) {
	if n := r.nodes[addr]; n != nil && n.conn.Err() == nil {
		return n, nil
	}
	n, err := r.dial(ctx, r.parts.Target, addr)
	if err == nil {
		r.nodes[addr] = n
	}
	return n, err
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

// masters are all of them, by address.
func (r *reader) masters(ctx context.Context) ([]*node, error) {
	switch {
	case r.parts.Master != "":
		n, err := r.behindSentinels(ctx)
		return []*node{n}, err
	case r.parts.Cluster:
		if err := r.learn(ctx); err != nil {
			return nil, err
		}
		var all []*node
		for _, s := range r.slots {
			if !slices.Contains(all, s.master) {
				all = append(all, s.master)
			}
		}
		slices.SortFunc(all, func(a, b *node) int { return strings.Compare(a.addr, b.addr) })
		return all, nil
	}
	n, err := r.at(ctx, r.parts.Servers[0])
	if err != nil {
		return nil, unreachableError(err)
	}
	return []*node{n}, nil
}

// of is the master that has a key.
func (r *reader) of(ctx context.Context, key string) (*node, error) {
	by, err := r.by(ctx, slices.Values([]string{key}))
	for n := range by {
		return n, nil
	}
	return nil, err
}

// serving is the master of a cluster that has a key. The slots are known.
func (r *reader) serving(key string) (*node, error) {
	slot := int(codec.Slot(key))
	for _, s := range r.slots {
		if s.first <= slot && slot <= s.last {
			return s.master, nil
		}
	}
	return nil, unreachableError(fmt.Errorf("no master has slot %d, which %q is in", slot, key))
}

// by has names by the master that has them.
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
				return nil, err
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
		if role, err := n.do(ctx, "ROLE"); err == nil && isMaster(role) {
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
	role, err := n.do(ctx, "ROLE")
	if _, refused := err.(redis.Error); refused {
		return n, nil // the Sentinels are believed
	}
	if err == nil && !isMaster(role) {
		err = unreachableError(fmt.Errorf("the Sentinels name %s, which is no master. In a failover, try again in some seconds", n.addr))
	}
	return n, err
}

func isMaster(role any) bool {
	words, _ := role.([]any)
	return len(words) > 0 && fmt.Sprintf("%s", words[0]) == "master"
}

// learn reads which master has which slots, unless that is known.
func (r *reader) learn(ctx context.Context) error {
	if r.slots != nil && !slices.ContainsFunc(r.slots, func(s slots) bool { return s.master.conn.Err() != nil }) {
		return nil
	}
	r.close()
	var errs []error
	for _, addr := range r.parts.Servers {
		n, err := r.at(ctx, addr)
		var ranges []any
		if err == nil {
			ranges, err = redis.Values(n.do(ctx, "CLUSTER", "SLOTS"))
		}
		if err == nil {
			err = r.mapped(ctx, n, ranges)
		}
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return unreachableError(errors.Join(errs...))
}

// mapped takes what CLUSTER SLOTS says: first, last, and servers, the master first.
func (r *reader) mapped(ctx context.Context, asked *node, ranges []any) error {
	var all []slots
	for _, one := range ranges {
		parts, err := redis.Values(one, nil)
		if err != nil || len(parts) < 3 {
			return fmt.Errorf("CLUSTER SLOTS has %v", one)
		}
		master, err := redis.Values(parts[2], nil)
		if err != nil || len(master) < 2 {
			return fmt.Errorf("CLUSTER SLOTS has %v", one)
		}
		host, _ := redis.String(master[0], nil)
		port, _ := redis.Int(master[1], nil)
		if host == "" {
			host, _, _ = net.SplitHostPort(asked.addr)
		}
		n, err := r.at(ctx, net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return err
		}
		first, _ := redis.Int(parts[0], nil)
		last, _ := redis.Int(parts[1], nil)
		all = append(all, slots{first, last, n})
	}
	if len(all) == 0 {
		return errors.New("the cluster has no slots assigned")
	}
	r.slots = all
	return nil
}
