package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/spf13/pflag"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// fromReplicas is the flag of commands that may read a replica.
func (s *server) fromReplicas(f *pflag.FlagSet) {
	f.BoolVar(&s.readOnly, "read-only", false, "read a replica while its master can't be read")
}

// master returns the one master that all locks are at. With --read-only it is a replica while there is no master
// that can be read.
func (r *reader) master(ctx context.Context) (n *node, err error) {
	if r.instead != nil && !r.instead.broken && time.Since(r.looked) < asksAgain {
		return r.instead, nil
	}
	if r.instead != nil {
		r.instead.instead, r.instead = nil, nil
	}
	switch {
	case r.parts.Master != "":
		n, err = r.behindSentinels(ctx)
	case r.parts.Replicated:
		n, err = r.amongReplicas(ctx)
	default:
		n, err = r.alone(ctx)
	}
	if err == nil || !r.readOnly || ctx.Err() != nil {
		return n, err
	}
	r.close()
	r.instead, err = r.best(ctx, r.replicas(ctx), err)
	r.looked = time.Now()
	return r.instead, err
}

// replicas returns the addresses of servers that may be replicas.
func (r *reader) replicas(ctx context.Context) (all []string) {
	if r.parts.Master == "" {
		return r.parts.Servers
	}
	reply, err := r.asked(ctx, "REPLICAS", r.parts.Master)
	listed, err := redis.Values(reply, err)
	if err != nil {
		return nil // behindSentinels has said why
	}
	for _, one := range listed {
		if of, err := redis.StringMap(one, nil); err == nil && !strings.Contains(of["flags"], "down") {
			all = append(all, net.JoinHostPort(of["ip"], of["port"]))
		}
	}
	return all
}

// best returns the replica that has got the most from its master, which can't be read because of why. If none can be read,
// that is the error.
func (r *reader) best(ctx context.Context, addrs []string, why error) (best *node, err error) {
	var most int64
	for _, addr := range addrs {
		n, err := r.at(ctx, addr)
		if err != nil {
			continue
		}
		if !r.parts.Cluster {
			said, err := n.said(ctx)
			if _, is := errors.AsType[*redisconn.ReplicaError](cmp.Or(err, said.Usable())); !is {
				continue // a cluster's replica, for example, whose URL would be another one
			}
		} else if _, err := n.do(ctx, "READONLY"); err != nil {
			why = fmt.Errorf("%w, and its replica %s refused READONLY: %w", why, addr, err)
			continue
		}
		came := int64(0)
		if role, err := redis.Values(n.do(ctx, "ROLE")); err == nil && len(role) == 5 { // the account may not ask
			came, _ = redis.Int64(role[4], nil)
		}
		if !n.broken && (best == nil || came > most) {
			best, most = n, came
		}
	}
	if best == nil {
		return nil, why
	}
	best.instead = why
	return best, nil
}

// replica returns the node's address if it is read instead of its master.
func (n *node) replica() string {
	if n.instead == nil {
		return ""
	}
	return n.addr
}

// stale says that replicas are read, and why; empty if none is.
func (r *reader) stale() string {
	var all []string
	for _, n := range r.nodes {
		if text := n.stale(); text != "" {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

func (n *node) stale() string {
	if n.instead == nil {
		return ""
	}
	return fmt.Sprintf("read from the replica %s, which may lack the latest changes and knows of no waiters: %s", n.addr, strings.NewReplacer("\n", ", ", "; use the master", "").Replace(told(n.instead)))
}
