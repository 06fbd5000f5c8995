package rlock

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gomodule/redigo/redis"
	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockstate"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/topology"
)

// Pool lends connections; *redis.Pool of gomodule/redigo does. Give its Dial
// read and write timeouts.
type Pool interface {
	// GetContext lends one connection, or says why it can't before ctx ends.
	GetContext(ctx context.Context) (redis.Conn, error)
}

// Client is what a Redisson instance is in Java. It has an id, which is the
// first half of its owners. All its locks share two connections to the server,
// one for commands and one for subscriptions, and one watchdog. Where replicas are
// waited for (WithReplicaSync) a third carries releases and renewals. All methods
// are safe for concurrent use.
type Client struct {
	s      *lockstate.State
	mapper NameMapper
}

// Open connects to a Redis server and makes a client of its own connections.
//
//	redis://[user:password@]host[:port][/db]
//	rediss://[user:password@]host[:port][/db]   the same over TLS
//	redis+sentinel://[user:password@]host[:port],host[:port]/master-name[/db]
//	redis+cluster://[user:password@]host[:port],host[:port]
//
// It blocks
// until the server has answered once, ctx ends, or the command timeout has
// passed, which is ErrUnavailable, and returns the server's refusal (a wrong
// password, a database that is not there) as ErrRefused. A server that is a replica is asked again
// until then: after a failover an address may lead to one for a while. Later
// on too a connection is given up, and another one made, when its server says
// that it is read-only, or when the host's name does not lead to it any more;
// the name is looked up each 5 s, less often while connections keep moving.
//
// With redis+sentinel:// the Sentinels, whose default port is 26379, are asked for
// the master at each connect, and listened to: the first that tells of another
// master has the connections to the former ended at once. User and password are
// the master's. One Sentinel that answers is enough, and one that is not in the
// URL is learned from the others. While none answers, the connections that there
// are go on, and none is made. All holds are renewed at once on the next master;
// one that it lacks, since replication is asynchronous, is lost.
//
// With redis+cluster:// one of the hosts that answers is enough: it tells the
// others, which are reached at the addresses that the cluster announces, with the
// same user and password. The client has up to two connections, with replicas to wait for three, to each master
// that it uses. It follows slots that move and masters that fail; after a failover
// a lock that its replica did not have is lost. WithTLSConfig has it speak TLS.
//
// ErrInvalidOption: a malformed URL, whose error names the part and never
// prints the URL, a server that is a Sentinel or a node of a cluster, or an
// option that can't be used. The caller must call Close or Shutdown.
func Open(ctx context.Context, rawURL string, opts ...Option) (*Client, error) {
	o, err := newSettings(opts)
	if err != nil {
		return nil, err
	}
	if !o.given["WithReplicaSync"] {
		o.replicas = topology.Replicated(rawURL)
	}
	c, err := newClient(o, func(s topology.Settings) (topology.Topology, error) {
		s.TLS, s.Credentials, s.ConnectionName = o.tls, o.credentials, o.name
		s.SentinelTLS, s.SentinelCredentials, s.Dialer = o.sentinelTLS, o.sentinelCredentials, o.dialer
		s.Publish = topology.Publish(o.publish)
		if o.given["WithClusterPublish"] && !strings.HasPrefix(rawURL, "redis+cluster://") {
			return nil, errPublish
		}
		return topology.Open(rawURL, s)
	})
	if err != nil {
		return nil, fmt.Errorf("rlock: open: %w: %w", ErrInvalidOption, err)
	}
	if err := c.s.Prove(ctx); err != nil {
		c.s.Abandon()
		if errors.Is(err, redisconn.ErrTopology) {
			err = fmt.Errorf("%w: %w", ErrInvalidOption, err)
		}
		return nil, fmt.Errorf("rlock: open: %w", ofKind(err))
	}
	c.s.Started()
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
	case o.dialer != nil:
		err = errors.New("WithDialer: the pool dials, so its Dial leads through the tunnel")
	case o.sentinelTLS != nil || o.sentinelCredentials != nil:
		err = errors.New("WithSentinelTLSConfig and WithSentinelCredentials are for redis+sentinel:// URLs")
	case o.given["WithClusterPublish"]:
		err = errPublish
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
	c, err := newClient(o, func(s topology.Settings) (topology.Topology, error) {
		return topology.Borrowed(pool, s), nil
	})
	if err == nil {
		c.s.Started()
	}
	return c, err
}

func newClient(o *settings, open func(topology.Settings) (topology.Topology, error)) (*Client, error) {
	s, err := lockstate.New(lockstate.Config{
		Watchdog: o.watchdog,
		Timeout:  o.timeout,
		Replicas: o.replicas,
		Courtesy: o.courtesy,
		Clock:    o.clock,
		Logger:   o.logger,
		Topology: open,
		NewOwner: newOwnerState,
		NewHold:  newHold,
	})
	if err != nil {
		return nil, err
	}
	return &Client{mapper: o.mapper, s: s}, nil
}

// ID is the first half of every owner that this client makes, as the id of a
// Redisson instance is.
func (c *Client) ID() uuid.UUID { return c.s.ID() }

// NewOwner makes an owner that was never handed out before. It does no I/O.
func (c *Client) NewOwner() Owner { return Owner{c.s.NewOwner()} }

// NewLock returns a handle for the lock of that name, Redisson's
// getLock(name). It does no I/O. A name that can't be used, one that is empty
// or, mapped, longer than 512 KiB, is reported by every call that would use
// it, with ErrInvalidName. Any other bytes are data.
func (c *Client) NewLock(name string) *Lock { return c.newLock(kind.Reentrant, name) }

// newLock is the handle of any kind.
func (c *Client) newLock(k kind.Kind, name string) *Lock {
	key := name
	if c.mapper != nil && name != "" {
		key = c.mapper.Map(name)
	}
	l := &Lock{l: c.s.NewLock(k, name, key)}
	l.wrong = l.checkName()
	return l
}

// Shutdown ends the client in good order: acquires by new owners and all
// waiters get ErrClosed, while owners that hold a lock may re-enter it and
// release; reads, UnlockAs and ForceUnlock go on working. When the last
// hold is over and every Unlock and UnlockAs has its outcome, it closes. What is
// under way beside them to give back what nobody holds gets one command timeout,
// as it does from Close, whether or not anything was held. If ctx ends first it
// closes at once and returns ctx's error; keys still held are left to expire.
func (c *Client) Shutdown(ctx context.Context) error { return c.s.Shutdown(ctx) }

// Close ends the client at once: waiters get ErrClosed, holds end with
// ErrClosed, renewal stops, and keys still held are left to expire. What is
// under way to give back what nobody holds, undos, releases and the deletion
// of latches, gets one command timeout. It returns when every goroutine and
// connection of the client is gone, but for a dial that does not heed its
// context (see New). From then on every call that would ask
// the server returns ErrClosed, Hold.Unlock included. It is idempotent, and a
// second call waits for the first.
func (c *Client) Close() error {
	c.s.Close()
	return nil
}
