package locks

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// Ask reads something of the lock or of the owner. It blocks as Query does.
func (l *Lock) Ask(ctx context.Context, q kind.Question, o Owner) (kind.Answer, error) {
	c := l.Client
	if c.Closed() {
		return kind.Answer{}, ErrClosed
	}
	query := l.kind.Ask(q, &kind.Want{Names: &l.names, Owner: o})
	if query.Empty() {
		return kind.Answer{}, fmt.Errorf("%w: only NewFencedLock's locks have a token", ErrInvalidOption)
	}
	reply, err := c.Query(ctx, l.slot, query.Call)
	if err != nil {
		return kind.Answer{}, err
	}
	return query.Answer(reply)
}

// Read sends a command that may run any number of times, and returns the reply. It blocks
// as Query does.
func (l *Lock) Read(ctx context.Context, call func(*kind.Want) kind.Call) (any, error) {
	reply, err := l.Client.Query(ctx, l.slot, call(&kind.Want{Names: &l.names, Publish: l.Client.top.Publish(l.slot)}))
	l.mayHaveWritten()
	return reply, err
}

// mayHaveWritten makes an owner read the keys of its holds again, after a command without an owner that
// may have written them. For example, whatever asks for permits takes back those whose time is over.
func (l *Lock) mayHaveWritten() {
	defer l.shard.enter(mustNotBlock).leave()
	if n := l.shard.names[l.nameKey]; n != nil {
		n.readAgain(nil)
	}
}

// question makes a command that may run any number of times, mostly one that only reads. It
// is sent again until it is answered, its limit has passed or the client is closed.
func (c *Client) question(slot uint16, call kind.Call, limit time.Duration) *command.Request {
	r := &command.Request{Resend: call.Resend, Until: limit, Aside: call.Writes}
	r.Fill(slot, call, c.Replicas)
	return r
}

// replied is the outcome of a question that has ended.
func replied(r *command.Request) (reply any, err error) {
	if r.Fate == command.Closed {
		return nil, ErrClosed
	}
	return r.Wire.Reply, r.Wire.Err
}

// Query asks the server of slot and waits for the reply, for at most a command timeout and
// an eighth.
func (c *Client) Query(ctx context.Context, slot uint16, call kind.Call) (any, error) {
	if c.Closed() {
		return nil, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// A query that is repeated just before its limit may wait for a connection for two
	// timeouts more; its caller does not. Otherwise the outcome comes before this limit.
	limited, cancel := context.WithTimeout(ctx, c.Timeout+c.Timeout/8)
	defer cancel()
	r := c.question(slot, call, c.Clock.Now()+c.Timeout)
	r.Left = limited.Done()
	switch fate := c.exec.Do(r); {
	case fate != command.Open && fate != command.TakenBack:
		return replied(r)
	case ctx.Err() != nil:
		return nil, WithTrouble(ctx.Err(), c.exec.Trouble(slot))
	}
	return nil, cmp.Or(c.exec.Trouble(slot), command.NoReply("no reply within %v", c.Timeout))
}

// Prove returns nil when a server has answered. It blocks for no longer than ctx
// and a command timeout.
func (c *Client) Prove(ctx context.Context) error {
	if cluster, ok := c.top.(interface{ Prove(context.Context) error }); ok { // it chooses itself which servers to ask
		return cluster.Prove(ctx)
	}
	reply, err := c.Query(ctx, 0, kind.Read("PING"))
	if err == nil && reply != "PONG" {
		err = fmt.Errorf("no Redis: PING was answered with a Go %T, not PONG", reply)
	}
	return err
}

// countListeners is how many clients listen for a release; -1 if the server does not let
// them be counted. Of two kinds of channel it is the larger number: a client that listens
// to both, as this library does, must not count twice. Where each owner has a channel, it
// is how many wait in the server's queue.
func (l *Lock) countListeners(ctx context.Context) (int, error) {
	if l.Traits.ByOwner {
		a, err := l.Ask(ctx, kind.Waiting, Owner{})
		return int(a.N), err
	}
	if l.Traits.Silent {
		return 0, nil
	}
	most := -1
	for _, call := range l.listenerCalls() {
		n, err := listeners(l.Client.Query(ctx, l.slot, call))
		if said, refused := redisconn.RefusalOf(err); refused {
			if said.NotAllowed() {
				l.Client.Log.CommandRefused(nil, l.server(), fmt.Sprint(call.Name, " ", call.Args[0]), err)
			}
			continue // the server does not let this account count, or knows no such channels
		}
		if err != nil {
			return 0, err
		}
		most = max(most, n)
	}
	return most, nil
}

// listenerCalls are the commands that count the subscribers of the lock's channel, one for
// each kind of channel.
func (l *Lock) listenerCalls() (all []kind.Call) {
	for _, s := range l.Client.top.Subscriptions(l.slot) {
		by := "NUMSUB"
		if s.Sharded {
			by = "SHARDNUMSUB"
		}
		all = append(all, kind.Read("PUBSUB", by, l.kind.Channel(&l.names, nil)))
	}
	return all
}

// listeners decodes the reply to one of the listenerCalls.
func listeners(reply any, err error) (int, error) {
	pair, err := redis.Values(reply, err)
	if err != nil {
		return 0, err
	}
	if len(pair) != 2 {
		return 0, fmt.Errorf("PUBSUB NUMSUB was answered with %d elements", len(pair))
	}
	return redis.Int(pair[1], nil)
}
