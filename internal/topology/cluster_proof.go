package topology

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// Prove tells whether the cluster can be used. It returns nil when any master has answered; the others may be down or
// unreachable. An error that the next attempt would meet too, such as a wrong
// password, is returned at once. Otherwise it blocks until the caller's context ends,
// or a command timeout has passed; then its error is the last one seen, added to that of the
// context if it ended.
func (t *Cluster) Prove(caller context.Context) error {
	ctx, cancel := context.WithTimeout(caller, t.s.Timeout)
	defer cancel()
	failed := errSilent
	for {
		t.mu.Lock()
		looked, why := t.looked, t.failed
		t.mu.Unlock()
		if masters := t.masters(); len(masters) > 0 {
			if why = askEach(ctx, masters, prove, hopeless); why == nil {
				return nil
			}
		}
		switch {
		case hopeless(why):
			return why
		case why != nil:
			failed = why
		}
		t.lookSoon()
		select {
		case <-looked:
		case <-ctx.Done():
			if err := caller.Err(); err != nil && failed != errSilent {
				return fmt.Errorf("%w (last trouble: %w)", err, failed)
			} else if err != nil {
				return err
			}
			return failed
		}
	}
}

// hopeless tells whether err would come again from this server and from every other.
func hopeless(err error) bool {
	r, ok := redisconn.RefusalOf(err)
	return redisconn.Permanent(err) || ok && !r.Passing() && !r.Redirects() && !redisconn.CredentialsRefused(err)
}

// masters returns the nodes that have slots: first the one that gave the last map,
// since it works, then the others in any order.
func (t *Cluster) masters() (nodes []*Node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	nodes = slices.Collect(maps.Keys(t.serving())) // in any order
	if i := slices.IndexFunc(nodes, func(n *Node) bool { return n.name == t.told }); i > 0 {
		nodes[0], nodes[i] = nodes[i], nodes[0]
	}
	return nodes
}

// prove sends a PING on a node's pipeline, and the outcome to answers.
func prove(n *Node, answers chan<- error) {
	r := &pipeline.Request{Command: "PING", Done: pipeline.CompletionFunc(func(r *pipeline.Request) {
		err := r.Err
		if err == nil && r.Reply != "PONG" {
			err = fmt.Errorf("no Redis: PING was answered with a Go %T, not PONG", r.Reply)
		}
		answers <- err
	})}
	if !n.Pipe.Enqueue(r, 0) {
		answers <- r.Err
		return
	}
	n.Touch()
	n.Pipe.Flush()
}
