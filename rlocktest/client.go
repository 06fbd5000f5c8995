package rlocktest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/locks"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// Client is a client with its own server. In addition to rlock.Client's methods
// it has some that cause events that a test can't wait for. If one of these can't
// do its work, it fails the test, so call it on the test's goroutine.
type Client struct {
	*rlock.Client

	t         testing.TB
	server    server
	opts      []rlock.Option
	stopped   atomic.Bool // by StopServer
	losesNext atomic.Bool // the reply to the next script is lost
}

// server is a Redis in the test's process.
type server interface {
	addr() string
	// dialer is for the connections of one more client.
	dialer() dialer
	stop()
	start() error
}

type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// Open starts a Redis inside this process and opens a client on it. The end of
// the test closes both. Leases run in real time, while OpenVirtual's run in
// virtual time. opts are those of rlock.Open, except WithDialer, which Open
// uses itself.
func Open(t testing.TB, opts ...rlock.Option) *Client {
	t.Helper()
	if inBubble() {
		t.Fatal("rlocktest: real connections stop the clock of a bubble: use OpenVirtual")
	}
	return open(t, startMini(t), opts)
}

// OpenVirtual is Open for a test in a bubble of testing/synctest. Server and
// network are in memory and have the bubble's clock, so a lease of an hour ends
// as soon as nothing else is left to do. When everything waits, the clock jumps
// ahead. A command takes up to a millisecond of virtual time, so compare times
// with a tolerance. Outside a bubble it fails the test.
func OpenVirtual(t testing.TB, opts ...rlock.Option) *Client {
	t.Helper()
	if !inBubble() {
		t.Fatal("rlocktest: OpenVirtual is for a bubble of testing/synctest: use Open")
	}
	return open(t, newVirtual(), opts)
}

// inBubble tells whether the time is that of a bubble, which begins in 2000.
func inBubble() bool { return 2000 <= time.Now().Year() && time.Now().Year() < 2020 }

func open(t testing.TB, on server, opts []rlock.Option) *Client {
	t.Helper()
	c := &Client{t: t, server: on, opts: opts}
	dial := on.dialer()
	c.loadScripts(dial)
	c.Client = c.another(func(ctx context.Context, network, addr string) (net.Conn, error) {
		under, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &conn{Conn: under, client: c}, nil
	}, opts)
	return c
}

// Another opens one more client of the same server, which stands for another
// process. opts are those of rlock.Open, except WithDialer. The end of the test
// closes it.
func (c *Client) Another(opts ...rlock.Option) *rlock.Client {
	c.t.Helper()
	return c.another(c.server.dialer(), opts)
}

func (c *Client) another(dial dialer, opts []rlock.Option) *rlock.Client {
	c.t.Helper()
	client, err := rlock.Open(context.Background(), c.URL(), append([]rlock.Option{rlock.WithDialer(dial)}, opts...)...)
	if err != nil {
		c.t.Fatalf("rlocktest: %v", err)
	}
	c.t.Cleanup(func() { client.Close() })
	return client
}

// URL is the server's URL. After Open, each further client that is opened with it
// stands for another process. After OpenVirtual only Another reaches the server.
func (c *Client) URL() string { return "redis://" + c.server.addr() }

// TakeAway takes the lock with this name from its holders, or the permits of a PermitSemaphore.
// The lock may be of any kind, and held by this client or by another one of this server. Each
// Hold, and each Permits, ends at once with ErrLeaseLost. After that the lock, or every permit,
// is free. It fails the test if nobody holds any.
func (c *Client) TakeAway(name string) {
	c.t.Helper()
	rw := c.NewReadWriteLock(name)
	for _, l := range []*rlock.Lock{rw.WriteLock(), rw.ReadLock(), c.NewLock(name)} {
		switch taken, err := l.ForceUnlock(context.Background()); {
		case taken:
			locks.TakenAway(c.server.addr(), name)
			return
		case err != nil && !errors.Is(err, rlock.ErrRefused): // which says that it is no lock
			c.t.Fatalf("rlocktest: take the lock away: %v", err)
		}
	}
	if !c.takePermitsAway(name) {
		c.t.Fatalf("rlocktest: take the lock away: nobody holds %q", name)
	}
}

// takePermitsAway frees all permits of a semaphore, and reports whether any were taken.
func (c *Client) takePermitsAway(name string) bool {
	c.t.Helper()
	ctx, seats := context.Background(), c.NewPermitSemaphore(name)
	taken, err := seats.Acquired(ctx)
	if err != nil || taken == 0 {
		return false
	}
	total, err := seats.Total(ctx)
	if err == nil {
		_, err = seats.Delete(ctx)
	}
	if err == nil {
		locks.TakenAway(c.server.addr(), name)
		_, err = seats.TrySetPermits(ctx, total)
	}
	if err != nil {
		c.t.Fatalf("rlocktest: take permits away: %v", err)
	}
	return true
}

// HoldElsewhere makes another process hold the lock with this name, until you unlock
// the Hold or the test ends. It is for locks of all kinds except read and write locks.
// That process has this client's options, its observer too. It fails the test if the
// lock is taken.
func (c *Client) HoldElsewhere(name string) *rlock.Hold {
	c.t.Helper()
	return c.elsewhere(func(other *rlock.Client) *rlock.Lock { return other.NewLock(name) })
}

// HoldReadElsewhere is HoldElsewhere for the read lock of a read-write lock.
func (c *Client) HoldReadElsewhere(name string) *rlock.Hold {
	c.t.Helper()
	return c.elsewhere(func(other *rlock.Client) *rlock.Lock { return other.NewReadWriteLock(name).ReadLock() })
}

// HoldWriteElsewhere is HoldElsewhere for the write lock of a read-write lock.
func (c *Client) HoldWriteElsewhere(name string) *rlock.Hold {
	c.t.Helper()
	return c.elsewhere(func(other *rlock.Client) *rlock.Lock { return other.NewReadWriteLock(name).WriteLock() })
}

// HoldPermitsElsewhere makes another process take n permits of a PermitSemaphore, until
// you release them or the test ends. It fails the test if fewer are free.
func (c *Client) HoldPermitsElsewhere(name string, n int) *rlock.Permits {
	c.t.Helper()
	permits, err := c.Another(c.opts...).NewPermitSemaphore(name).TryAcquire(context.Background(), n)
	if err != nil {
		c.t.Fatalf("rlocktest: hold permits elsewhere: %v", err)
	}
	return permits
}

func (c *Client) elsewhere(lock func(*rlock.Client) *rlock.Lock) *rlock.Hold {
	c.t.Helper()
	hold, err := lock(c.Another(c.opts...)).TryLock(context.Background())
	if err != nil {
		c.t.Fatalf("rlocktest: hold the lock elsewhere: %v", err)
	}
	return hold
}

// LoseReply breaks the connection under the next command of this client that acquires,
// releases or renews a lock: the server runs the command, but its reply is lost. The call
// that sent it sends it again, and it counts once. After Open, an acquire as an owner that
// others may use is ErrUncertain, because miniredis has no CLIENT KILL.
func (c *Client) LoseReply() { c.losesNext.Store(true) }

// StopServer ends all connections and lets nobody connect until StartServer.
// The server keeps its data. After the command timeout
// (rlock.WithCommandTimeout) calls end with ErrUnavailable, or with
// ErrUncertain if they had sent something. Releases try for longer, as the
// comment of each says: Hold.Unlock for four command timeouts and a second.
// On a server that is stopped it does nothing.
func (c *Client) StopServer() {
	if !c.stopped.Swap(true) {
		c.server.stop()
	}
}

// StartServer starts the server again after StopServer, at the same address. On a
// server that runs it does nothing.
func (c *Client) StartServer() {
	c.t.Helper()
	if !c.stopped.Swap(false) {
		return
	}
	if err := c.server.start(); err != nil {
		c.t.Fatalf("rlocktest: start the server: %v", err)
	}
	c.loadScripts(c.server.dialer())
}

// loadScripts loads all scripts, so that the first lost reply is not NOSCRIPT.
func (c *Client) loadScripts(dial dialer) {
	c.t.Helper()
	conn, err := redis.Dial("tcp", c.server.addr(), redis.DialContextFunc(dial))
	if err != nil {
		c.t.Fatalf("rlocktest: %v", err)
	}
	defer conn.Close()
	for _, script := range luasrc.Scripts() {
		if _, err := conn.Do("SCRIPT", "LOAD", script.Source); err != nil {
			c.t.Fatalf("rlocktest: load a script: %v", err)
		}
	}
}

// conn is a connection that can lose a reply.
type conn struct {
	net.Conn
	client *Client
	loses  atomic.Bool
}

// Write looks for the script whose reply is to be lost.
func (c *conn) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("EVALSHA")) && c.client.losesNext.CompareAndSwap(true, false) {
		c.loses.Store(true)
	}
	return c.Conn.Write(b)
}

// Read waits for the reply before it loses it, so that the script has run.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.loses.Load() {
		c.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}
