package rlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/pubsub"
	"github.com/rlock-go/redisson/watchdog"
)

// Pool lends connections; *redis.Pool of gomodule/redigo does. Give its Dial
// read and write timeouts.
type Pool interface {
	// GetContext lends one connection, or says why it can't before ctx ends.
	GetContext(ctx context.Context) (redis.Conn, error)
}

// Client is what a Redisson instance is in Java. It has an id, which is the
// first half of its owners. All its locks share two connections to the server,
// one for commands and one for subscriptions, and one watchdog. All methods are
// safe for concurrent use.
type Client struct {
	id             uuid.UUID
	args           struct{ lease, latchTTL any } // of the watchdog and of latches, in ms, boxed once
	o              *settings
	node           *node
	exec           *command.Executor // of all commands
	watchdog       *watchdog.Watchdog
	log            eventLog
	shards         [shardCount]shard
	threads        atomic.Int64
	shared         atomic.Int64 // the newest of its owners that other clients may use
	noClientCounts atomic.Bool  // the server refuses to count subscribers
	timers         timers

	liveHolds gauge // holds
	releases  gauge // calls of Unlock and UnlockAs
	work      gauge // other commands that change something, their undos included

	address struct { // the goroutine that looks up the server's name
		stop context.CancelFunc
		wg   sync.WaitGroup
	}

	state   atomic.Int32
	closing sync.Mutex    // held while closing
	gone    chan struct{} // closed when Close has finished
}

const (
	stateOpen int32 = iota
	stateDraining
	stateClosed
)

// node is one server as a client uses it. A topology of many will choose it
// by the key's slot.
type node struct {
	renewals renewalLimiter
	pipe     *pipeline.Pipeline
	exec     *command.Executor // of all that is sent through pipe
	hub      *pubsub.Hub
}

// Open connects to a Redis server and makes a client of its own connections.
//
//	redis://[user:password@]host[:port][/db]
//	rediss://[user:password@]host[:port][/db]   the same over TLS
//
// redis+sentinel:// and redis+cluster:// are not supported so far. It blocks
// until the server has answered once, ctx ends, or the command timeout has
// passed, and returns the server's refusal (a wrong password, a database that
// is not there) as it was given. A server that is a replica is asked again
// until then: after a failover an address may lead to one for a while. Later
// on too a connection is given up, and another one made, when its server says
// that it is read-only, or when the host's name does not lead to it any more;
// the name is looked up each 5 s, less often while connections keep moving.
//
// ErrInvalidOption: a malformed URL, whose error names the part and never
// prints the URL, a server that is a Sentinel or a node of a cluster, or an
// option that can't be used. The caller must call Close or Shutdown.
func Open(ctx context.Context, rawURL string, opts ...Option) (*Client, error) {
	o, err := newSettings(opts)
	if err != nil {
		return nil, err
	}
	target, err := redisconn.ParseURL(rawURL)
	if err == nil && o.tls != nil {
		err = target.UseTLS(o.tls)
	}
	if err == nil && o.credentials != nil && (target.Username != "" || target.Password != "") {
		err = errors.New("WithCredentials: the URL has a user or a password as well")
	}
	if err != nil {
		return nil, fmt.Errorf("rlock: open: %w: %w", ErrInvalidOption, err)
	}
	target.Name, target.Credentials = o.name, o.credentials
	c := newClient(o, func(ctx context.Context) (redis.Conn, error) {
		return target.Dial(ctx, o.timeout)
	})
	if err := c.ping(ctx); err != nil {
		c.close(0)
		if errors.Is(err, redisconn.ErrTopology) {
			err = fmt.Errorf("%w: %w", ErrInvalidOption, err)
		}
		return nil, fmt.Errorf("rlock: open: %w", err)
	}
	if target.Named() {
		c.watchAddress(target)
	}
	c.log.started(c, target.Address)
	return c, nil
}

// New makes a client that borrows from the caller's pool. It keeps up to two
// of its connections for as long as the client lives and returns them, never
// closing them, when they are no longer needed. It does no I/O; a pool that
// can't lend two is ErrInvalidOption here if it says so by itself, else an
// error of the call that needs the second. So is the error of a server that is
// a Sentinel or a node of a cluster: it comes with the first call that asks.
// Connections to a server that became read-only are broken off, so that the
// pool dials new ones. The caller must call Close or Shutdown; the pool stays
// the caller's.
//
// A Dial of the pool that takes longer than the command timeout holds nobody
// up, not even Close: it goes on by itself, one for commands and one for
// subscriptions at the most, and what it brings is used, or returned to the
// pool if nobody waits. Until it ends, a check for leaks sees its goroutine
// after Close.
func New(pool Pool, opts ...Option) (*Client, error) {
	o, err := newSettings(opts)
	if err != nil {
		return nil, err
	}
	switch {
	case pool == nil:
		err = errors.New("a nil pool")
	case o.tls != nil:
		err = errors.New("WithTLSConfig: the pool dials, so its Dial sets TLS")
	case o.credentials != nil:
		err = errors.New("WithCredentials: the pool dials, so its Dial authenticates")
	case o.given["WithConnectionName"]:
		err = errors.New("WithConnectionName: the pool dials, so its Dial names the connections")
	}
	if rp, ok := pool.(*redis.Pool); ok && err == nil {
		switch {
		case rp == nil:
			err = errors.New("a nil pool")
		case rp.MaxActive == 1:
			err = fmt.Errorf("MaxActive is 1: %w", redisconn.ErrPoolSize)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("rlock: new: %w: %w", ErrInvalidOption, err)
	}
	c := newClient(o, func(ctx context.Context) (redis.Conn, error) {
		return redisconn.Borrow(ctx, pool)
	})
	c.log.started(c, "")
	return c, nil
}

func newClient(o *settings, connect func(context.Context) (redis.Conn, error)) *Client {
	dial := func() func(context.Context) (redis.Conn, error) {
		return redisconn.Punctual(func(ctx context.Context) (redis.Conn, error) {
			conn, err := connect(ctx)
			return conn, redisconn.OwnDeadline(err)
		})
	}
	c := &Client{
		id:        uuid.New(),
		o:         o,
		liveHolds: newGauge(),
		releases:  newGauge(),
		work:      newGauge(),
		gone:      make(chan struct{}),
	}
	c.log = newEventLog(o.logger, c)
	c.args.lease = o.watchdog.Milliseconds()
	c.args.latchTTL = c.latchTTL().Milliseconds()
	c.timers.init()
	for i := range c.shards {
		c.shards[i].names = map[string]*name{}
	}
	c.node = &node{
		pipe: pipeline.New(dial(), pipeline.Options{
			Timeout: o.timeout, Clock: o.clock, Permanent: redisconn.Permanent, Replicas: o.replicas, Logger: c.log.l,
			Ended: func() { c.watchdog.RenewNow() },
			Moved: func() { c.node.hub.Redial() },
		}),
		hub: pubsub.New(dial(), pubsub.Options{Timeout: o.timeout, Permanent: redisconn.Permanent, Logger: c.log.l}),
	}
	c.exec = command.New(c.node.pipe, command.Options{Now: c.now, Permanent: redisconn.Permanent, Closing: c.closed})
	c.watchdog = watchdog.New(c.renew, watchdog.Options{TTL: o.watchdog, Clock: o.clock})
	c.trackSharedOwners()
	return c
}

// ID is the first half of every owner that this client makes, as the id of a
// Redisson instance is.
func (c *Client) ID() uuid.UUID { return c.id }

// NewOwner makes an owner that was never handed out before. It does no I/O.
func (c *Client) NewOwner() Owner { return Owner{c.id, c.threads.Add(1)} }

// longestName bounds a key: a connection refuses answers of more than a
// mebibyte, and the server's answer to SUBSCRIBE has the name in it.
const longestName = 512 << 10

// NewLock returns a handle for the lock of that name, Redisson's
// getLock(name). It does no I/O. A name that can't be used, one that is empty
// or, mapped, longer than 512 KiB, is reported by every call that would use
// it, with ErrInvalidName. Any other bytes are data.
func (c *Client) NewLock(name string) *Lock {
	l := &Lock{c: c, kind: reentrant, name: name, key: name}
	key := name
	if c.o.mapper != nil && name != "" {
		key = c.o.mapper.Map(name)
		l.key = key
	}
	l.channel = l.kind.channel(key)
	return l
}

// now is the time that decides whether something has ended.
func (c *Client) now() time.Duration { return c.o.clock.Now() }

// early is a time not after now, and cheaper. It is for recording when
// something began.
func (c *Client) early() time.Duration { return clock.Early(c.o.clock) }

func (c *Client) closed() bool { return c.state.Load() == stateClosed }

// admit returns an error unless an acquire may begin. It is called with the
// shard locked.
func (c *Client) admit(s *shard, l *Lock, t *terms) error {
	switch c.state.Load() {
	case stateClosed:
		return ErrClosed
	case stateDraining:
		if n := s.names[l.mapped()]; t.as && n != nil && n.holds(t.owner) {
			return nil
		}
		return fmt.Errorf("%w: it is being shut down, only owners that hold the lock may re-enter", ErrClosed)
	}
	return nil
}

// ping checks that the server answers.
func (c *Client) ping(ctx context.Context) error {
	reply, err := c.query(ctx, "PING")
	if err == nil && reply != "PONG" {
		err = fmt.Errorf("no Redis: PING was answered with a Go %T, not PONG", reply)
	}
	return err
}
