package rlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/gomodule/redigo/redis"
	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/topology"
)

// Pool lends connections. GetContext returns a connection, or an error before ctx ends.
// *redis.Pool of gomodule/redigo has it. Give its Dial read and write timeouts.
type Pool interface {
	GetContext(ctx context.Context) (redis.Conn, error)
}

// Client is what a Redisson instance is in Java. Its id is the first half of
// its owners. All its locks share one watchdog and two connections to the
// server, one for commands and one for subscriptions. If it waits for replicas
// (WithReplicaSync), a third connection carries releases and renewals. All
// methods are safe for concurrent use. The zero Client has no server: its
// locks, Shutdown and Close return ErrInvalidOption. A Client must not be copied.
type Client struct {
	s      *locks.Client // nil: a zero Client
	mapper NameMapper
	fair   kind.Kind

	observers *observers
	begun     atomic.Bool // the observers' Started was called
	ended     atomic.Bool // their Closed was
}

var errZeroClient = fmt.Errorf("%w: the zero Client; take one from Open or New", ErrInvalidOption)

// Open connects to a Redis server and returns a client that makes its own
// connections.
//
//	redis://[user:password@]host[:port][/db]
//	rediss://[user:password@]host[:port][/db]   the same over TLS
//	valkey://… valkeys://…                      the same as these two
//	unix://[user:password@]/path[?db=number]    a socket of this machine
//	redis+sentinel://[user:password@]host[:port],host[:port]/master-name[/db]
//	redis+cluster://[user:password@]host[:port],host[:port]
//	redis+replicated://[user:password@]host[:port],host[:port][/db]
//
// It blocks until the server has answered once, ctx ends, or the command
// timeout has passed, which is ErrUnavailable. If ctx ends first, the error is
// ctx's, joined with the server's last error. WithLazyConnect makes it return at
// once. If the server refuses, for a
// wrong password or a missing database, the error is ErrRefused. While the
// server is a replica, Open asks it again, because after a failover an address
// may lead to a replica for a while. Later the client replaces a connection
// when its server says that it is read-only, or when the host's name no longer
// leads to it. The client looks the name up every 5 s, less often while
// connections keep moving.
//
// With redis+sentinel:// the client asks the Sentinels for the master at each
// connect, and subscribes to their messages. Their default port is 26379. When
// any Sentinel announces a new master, the client drops its old connections and
// renews all holds on the new master. A hold is lost if it had not been
// replicated to the new master. User and password are the master's. One Sentinel
// that answers is enough; it names those that are not in the URL. While none
// answers, existing connections stay, and the client makes no new one.
//
// With redis+cluster:// one host that answers is enough; it names the others.
// The client reaches them at the addresses that the cluster announces, with the
// same user and password. It has up to two connections to each master that it
// uses, three if it waits for replicas. It follows slots that move and masters
// that fail. After a failover, a lock that the replica did not have is lost.
// WithTLSConfig makes it speak TLS.
//
// With redis+replicated:// the hosts are a master and its replicas, in any
// order, whose roles change without Sentinels: Redisson's replicated and
// master-slave modes. The client follows only what is listed. It asks all hosts
// for their roles at each connect, and each second while it is used. When
// another host is the master, it drops its old connections and renews all holds
// there. If two hosts say that they are the master, it stays with the one that
// it uses, and Open returns ErrUnavailable, which names both. WithTLSConfig
// makes it speak TLS.
//
// ErrInvalidOption: the URL is malformed, the server needs a URL of another scheme,
// or an option can't be used. The error names the wrong part of a
// URL and never prints the URL. The caller must call Close or Shutdown.
func Open(ctx context.Context, rawURL string, opts ...Option) (*Client, error) {
	if ctx == nil {
		return nil, fmt.Errorf("rlock: open: %w", errNoContext)
	}
	o, err := newSettings(opts)
	if err != nil {
		return nil, err
	}
	if !o.given["WithReplicaSync"] {
		o.Replicas = topology.HasReplicas(rawURL)
	}
	p, err := topology.Parse(rawURL)
	if err == nil {
		o.database = strconv.Itoa(p.Target.Database)
	}
	c, err := newClient(o, func(s topology.Settings) (topology.Topology, error) {
		if o.given["WithClusterPublish"] && !p.Cluster {
			return nil, errPublish
		}
		return topology.Open(rawURL, s)
	})
	if err != nil {
		return nil, fmt.Errorf("rlock: open: %w: %w", ErrInvalidOption, err)
	}
	if o.given["WithLazyConnect"] {
		c.started()
		return c, nil
	}
	if err := c.s.Prove(ctx); err != nil {
		c.s.Abandon()
		return nil, fmt.Errorf("rlock: open: %w", ofKind(err))
	}
	c.started()
	return c, nil
}

// New returns a client that borrows connections from the caller's pool. The
// client keeps up to two until it is closed. Before it returns a connection to
// the pool, it breaks it, so that the pool drops the connection. New does no I/O.
// The caller must call Close or Shutdown; the pool stays the caller's.
//
// If the pool can't lend two connections, and its settings show that, New returns
// ErrInvalidOption. If they don't, the call that needs the second connection
// returns an error. If the server is a Sentinel or a node of a cluster, the first
// call that asks it returns ErrInvalidOption.
//
// If the pool's Dial takes longer than the command timeout, the client and its
// Close stop waiting for it. At most one such Dial for commands and one for
// subscriptions is running. Its connection goes back to the pool unused on
// arrival; a pool without MaxIdle then closes it. Until then a leak check sees its
// goroutine even after Close.
func New(pool Pool, opts ...Option) (*Client, error) {
	o, err := newSettings(opts)
	if err != nil {
		return nil, err
	}
	rp, isPool := pool.(*redis.Pool)
	switch {
	case pool == nil || isPool && rp == nil:
		err = errors.New("a nil pool")
	case o.Servers.TLS != nil:
		err = errors.New("WithTLSConfig: the pool dials, so its Dial sets TLS")
	case o.Servers.Credentials != nil:
		err = errors.New("WithCredentials: the pool dials, so its Dial authenticates")
	case o.Servers.Dialer != nil:
		err = errors.New("WithDialer: the pool dials, so its Dial leads through the tunnel")
	case o.Servers.SentinelTLS != nil || o.Servers.SentinelCredentials != nil:
		err = errors.New("WithSentinelTLSConfig and WithSentinelCredentials are for redis+sentinel:// URLs")
	case o.given["WithClusterPublish"]:
		err = errPublish
	case o.given["WithLazyConnect"]:
		err = errors.New("WithLazyConnect: New never connects")
	case o.given["WithConnectionName"]:
		err = errors.New("WithConnectionName: the pool dials, so its Dial names the connections")
	case isPool && rp.MaxActive == 1:
		err = fmt.Errorf("MaxActive is 1: %w", redisconn.ErrPoolSize)
	}
	if err != nil {
		return nil, fmt.Errorf("rlock: new: %w: %w", ErrInvalidOption, err)
	}
	c, err := newClient(o, func(s topology.Settings) (topology.Topology, error) {
		return topology.Borrowed(pool, s), nil
	})
	if err == nil {
		c.started()
	}
	return c, err
}

func newClient(o *settings, open func(topology.Settings) (topology.Topology, error)) (*Client, error) {
	o.Topology = open
	if o.mapper != nil {
		o.Older.Map = o.mapper.Map
	}
	told := &observers{all: o.observers, database: o.database}
	if len(told.all) > 0 {
		o.Observer = told
	}
	s, err := locks.New(o.Config)
	if err != nil {
		return nil, err
	}
	return &Client{mapper: o.mapper, s: s, fair: kind.Fair(o.fairWait), observers: told}, nil
}

// ID is the first half of every owner that this client makes, like the id of a
// Redisson instance.
func (c *Client) ID() uuid.UUID {
	if c.s == nil {
		return uuid.UUID{}
	}
	return c.s.ID
}

// NewOwner returns an owner that was never handed out before. It does no I/O.
func (c *Client) NewOwner() Owner {
	if c.s == nil {
		return Owner{}
	}
	return Owner{c.s.NewOwner()}
}

// NewLock returns a handle for the lock with this name, Redisson's
// getLock(name). It does no I/O. If the name is empty, or longer than 512 KiB
// once mapped, every call that would use it returns ErrInvalidName. Any other
// bytes are allowed.
func (c *Client) NewLock(name string) *Lock { return c.newLock(kind.Reentrant, name) }

// newLock returns a handle of any kind.
func (c *Client) newLock(k kind.Kind, name string) *Lock {
	if c.s == nil {
		return &Lock{wrong: wrap("use", name, errZeroClient)}
	}
	key := name
	if c.mapper != nil && name != "" {
		key = c.mapper.Map(name)
	}
	l := &Lock{l: c.s.NewLock(k, name, key)}
	l.wrong = l.checkName()
	return l
}

// Shutdown closes the client once its holds are released, or when ctx ends.
// Meanwhile acquires by new owners and all waiters get ErrClosed. Owners that
// hold a lock may still re-enter it and release it; reads, UnlockAs and
// ForceUnlock still work. When the last hold is over and every Unlock and
// UnlockAs has its outcome, Shutdown closes the client. Pending commands that
// clean up get one command timeout, as with Close. If ctx ends first, Shutdown
// closes the client at once and returns ctx's error; keys that are still held
// are left to expire.
func (c *Client) Shutdown(ctx context.Context) error {
	if c.s == nil {
		return fmt.Errorf("rlock: shut down: %w", errZeroClient)
	}
	if ctx == nil {
		return fmt.Errorf("rlock: shut down: %w", errNoContext)
	}
	defer c.closed()
	if err := c.s.Shutdown(ctx); err != nil {
		return fmt.Errorf("rlock: shut down: %w", err)
	}
	return nil
}

// Close ends the client at once. Waiters get ErrClosed, holds end with
// ErrClosed, renewal stops, and keys that are still held are left to expire.
// Pending commands that clean up (undos, releases, and deletions of stored
// results of unlocks) get one command timeout. Those that take waiters out of a
// fair lock's queue get one after the last answer. Close returns when every
// goroutine and connection of the client is gone, except a dial that ignores
// its context (see New). From then on every call that would ask the server
// returns ErrClosed, Hold.Unlock included. Close is idempotent, and a second
// call waits for the first.
func (c *Client) Close() error {
	if c.s == nil {
		return fmt.Errorf("rlock: close: %w", errZeroClient)
	}
	c.s.Close()
	c.closed()
	return nil
}
