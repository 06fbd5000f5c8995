package rlock

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// Option is a setting of a Client. An option given twice, or with a value
// that can't be used, makes Open and New fail with ErrInvalidOption.
type Option func(*settings) error

// NameMapper turns the names that callers use into the keys that Redis holds,
// as Redisson's NameMapper does. Channel and latch are made from the mapped
// name.
type NameMapper interface {
	// Map is the key for a name. It must be pure and safe for concurrent use.
	Map(name string) string
}

type settings struct {
	given    map[string]bool
	watchdog time.Duration
	timeout  time.Duration
	tls      *tls.Config
	mapper   NameMapper
	replicas bool
	logger   *slog.Logger
	clock    clock.Clock
	courtesy bool

	name        string
	credentials redisconn.Credentials
	dialer      redisconn.Dialer

	sentinelTLS         *tls.Config
	sentinelCredentials redisconn.Credentials
	publish             Publish
}

func newSettings(opts []Option) (*settings, error) {
	s := &settings{
		given:    map[string]bool{},
		watchdog: 30 * time.Second,
		timeout:  3 * time.Second,
		clock:    clock.System(),
		courtesy: true,
		name:     "rlock",
	}
	for _, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("rlock: %w: a nil Option", ErrInvalidOption)
		}
		if err := o(s); err != nil {
			return nil, fmt.Errorf("rlock: %w: %w", ErrInvalidOption, err)
		}
	}
	return s, nil
}

func (s *settings) once(name string) error {
	if s.given[name] {
		return fmt.Errorf("%s given twice", name)
	}
	s.given[name] = true
	return nil
}

// WithWatchdogTimeout sets the lease of locks that are acquired without one;
// each third of it the watchdog extends them. It is Redisson's
// lockWatchdogTimeout. Default is 30 s; at least 3 ms, rounded down to whole
// milliseconds.
func WithWatchdogTimeout(d time.Duration) Option {
	return func(s *settings) error {
		if d < 3*time.Millisecond {
			return fmt.Errorf("WithWatchdogTimeout(%v): below 3ms there is no whole millisecond between renewals", d)
		}
		s.watchdog = d.Truncate(time.Millisecond)
		return s.once("WithWatchdogTimeout")
	}
}

// WithCommandTimeout sets how long one command may take before its connection
// is given up, and how long trouble may last before a call that has had no
// answer yet returns it. The server remembers an unlock for five of it and a
// second. It is Redisson's timeout. Default is 3 s; at least 1 ms, at most
// a day.
func WithCommandTimeout(d time.Duration) Option {
	return func(s *settings) error {
		if d < time.Millisecond {
			return fmt.Errorf("WithCommandTimeout(%v): below 1ms", d)
		}
		if d > 24*time.Hour {
			return fmt.Errorf("WithCommandTimeout(%v): above a day", d)
		}
		s.timeout = d
		return s.once("WithCommandTimeout")
	}
}

// WithTLSConfig sets how a rediss:// server is verified and which client
// certificate it is shown. Default verifies the URL's host against the
// system's roots. With a redis+sentinel:// or redis+cluster:// URL it has the
// client speak TLS; each server is verified by the host that the Sentinels name or
// the cluster announces, unless c names one. The config is cloned. With a redis://
// URL or a pool it is ErrInvalidOption.
func WithTLSConfig(c *tls.Config) Option {
	return func(s *settings) error {
		if c == nil {
			return fmt.Errorf("WithTLSConfig: a nil config")
		}
		s.tls = c
		return s.once("WithTLSConfig")
	}
}

// WithCredentials sets where user and password come from: f is asked at each
// connect, so passwords may change while the client lives. An empty user is
// Redis's default one, an empty password sends no AUTH. Connections that there
// are stay as they are; a server that ends them when a password changes has the
// client ask f again. f is called by several goroutines, must return when its
// ctx ends, and its error, or the server's refusal of what it gave, is a
// connection that can't be had for now: it is asked again, with growing pauses.
// Together with a user or password in the URL, or with a pool, whose Dial
// authenticates, it is ErrInvalidOption. Default is the URL's.
func WithCredentials(f func(ctx context.Context) (user, password string, err error)) Option {
	return func(s *settings) error {
		if f == nil {
			return fmt.Errorf("WithCredentials: a nil function")
		}
		s.credentials = f
		return s.once("WithCredentials")
	}
}

// WithSentinelCredentials sets where user and password for the Sentinels of a
// redis+sentinel:// URL come from: those in the URL, and WithCredentials, are for
// the master alone. f is asked at each connect to a Sentinel, and all else is as
// with WithCredentials. With any other URL, or with a pool, it is
// ErrInvalidOption. Default sends the Sentinels no AUTH.
func WithSentinelCredentials(f func(ctx context.Context) (user, password string, err error)) Option {
	return func(s *settings) error {
		if f == nil {
			return fmt.Errorf("WithSentinelCredentials: a nil function")
		}
		s.sentinelCredentials = f
		return s.once("WithSentinelCredentials")
	}
}

// WithSentinelTLSConfig has the client speak TLS with the Sentinels of a
// redis+sentinel:// URL, and sets how they are verified and which client
// certificate they are shown. WithTLSConfig does the same for the master; one
// may be given without the other. Each Sentinel is verified by its host, as the
// URL or another Sentinel has it, unless c names one. The config is cloned. With
// any other URL, or with a pool, it is ErrInvalidOption. Default is plain TCP.
func WithSentinelTLSConfig(c *tls.Config) Option {
	return func(s *settings) error {
		if c == nil {
			return fmt.Errorf("WithSentinelTLSConfig: a nil config")
		}
		s.sentinelTLS = c
		return s.once("WithSentinelTLSConfig")
	}
}

// WithDialer sets how the client reaches its servers: through an SSH tunnel, a
// proxy, or by addresses of its own. f is called for each connection, with "tcp"
// and host:port as the URL has it, or as a Sentinel or a cluster announces it; no
// name is looked up before. So a tunnel leads to every server of a cluster whose
// addresses are good only inside. TLS is laid on top of what f returns, and the
// server is verified by that host. f is called by several goroutines, its ctx ends
// with the command timeout or with the client, and its error is a connection that
// can't be had for now. f should return when its ctx ends; if it does not, nobody
// waits for it, what it brings is closed, and the address is not dialled again
// before. What f returns is closed by the client, which must end reads and writes
// under way; deadlines it need not have. Whether a name leads elsewhere by now is
// not looked up, as it is else (see Open). With a pool, whose Dial does the same,
// it is ErrInvalidOption. Default dials by TCP.
func WithDialer(f func(ctx context.Context, network, addr string) (net.Conn, error)) Option {
	return func(s *settings) error {
		if f == nil {
			return fmt.Errorf("WithDialer: a nil function")
		}
		s.dialer = redisconn.Tunnelled(f)
		return s.once("WithDialer")
	}
}

// WithConnectionName sets what the client's connections are called in CLIENT
// LIST: printable ASCII without spaces; empty sends no CLIENT SETNAME. An
// account that may not name connections does without. With a pool, whose Dial
// names its connections, it is ErrInvalidOption. Default is "rlock". It is
// Redisson's clientName.
func WithConnectionName(name string) Option {
	return func(s *settings) error {
		for _, b := range []byte(name) {
			if b <= ' ' || b > '~' {
				return fmt.Errorf("WithConnectionName(%q): a name is printable ASCII without spaces", name)
			}
		}
		s.name = name
		return s.once("WithConnectionName")
	}
}

// WithNameMapper sets how names become keys. Default leaves them as they are.
// It is Redisson's NameMapper.
func WithNameMapper(m NameMapper) Option {
	return func(s *settings) error {
		if m == nil {
			return fmt.Errorf("WithNameMapper: a nil mapper")
		}
		s.mapper = m
		return s.once("WithNameMapper")
	}
}

// WithReplicaSync says whether what changes a lock is followed by WAIT for
// the master's connected replicas, for at most one second: a grant that none
// of them acknowledged is given back and tried again. It is Redisson's
// checkLockSyncedSlaves. What is sent together shares one WAIT, and what comes
// meanwhile waits for it. Releases, undos and renewals have a connection of their
// own then, so that they wait for their own replicas only; with a pool they don't. Replicas are counted when a connection is made, and
// again after a WAIT that none acknowledged. With Sentinels and in a cluster they are
// also counted now and then, and one that has gone is waited for a minute longer;
// if none is left, for as long as the master stays. After an unlock that none acknowledged
// they are asked once more, and then it is reported, though the master has
// released the lock; so is one whose answer of the replicas was lost. A renewal or
// an Extend that none acknowledged is not relied on: the hold is lost if none does
// for a lease. Default is
// on for redis+sentinel:// and redis+cluster://, and off for a redis:// URL and a
// pool, which are Redisson's single mode.
func WithReplicaSync(on bool) Option {
	return func(s *settings) error {
		s.replicas = on
		return s.once("WithReplicaSync")
	}
}

// WithClusterPublish sets which messages a release sends in a cluster. Waiters of
// this package hear all of them. A server that does not know SPUBLISH (Redis
// before 7), or does not let the account use it, is sent PUBLISH, whatever was
// set. With any other URL than redis+cluster://, or with a pool, it is
// ErrInvalidOption. Default is PublishBoth.
func WithClusterPublish(p Publish) Option {
	return func(s *settings) error {
		if p > PublishPlain {
			return fmt.Errorf("WithClusterPublish(%d): there is no such kind", p)
		}
		s.publish = p
		return s.once("WithClusterPublish")
	}
}

// WithCourtesy says whether this client steps back for slower ones. A Go
// waiter reaches a lock that has just been released long before a JVM's does,
// so a lock that is never free for long would be Go's alone. With courtesy on, a
// client that has lately had more than its share of a lock that others wait
// for makes no attempt for some milliseconds after a release. When those others
// never come, each client spends up to a seventieth of its time on it; where
// nobody else waits it costs nothing but one PUBSUB NUMSUB now and then for a
// name that is taken again and again. An ACL that refuses that command turns it
// off; docs/courtesy.md has what was measured. TryLock,
// acquires with As, and waits with only milliseconds left never step back.
// Default is on. Redisson has no such thing.
func WithCourtesy(on bool) Option {
	return func(s *settings) error {
		s.courtesy = on
		return s.once("WithCourtesy")
	}
}

// WithLogger sets where the client tells of connections that are made (info),
// of those that break or can't be had, lost leases, failed renewals and
// uncertain outcomes (warn), and of each acquisition and release (debug).
// A warning that repeats is told each half minute, with the number in between.
// Every line has the client's ID as client; docs/operations.md lists them all.
// Secrets are never logged. The handler is called on the client's own
// goroutines: it must not block for long, nor call the client. Default is
// silence.
func WithLogger(l *slog.Logger) Option {
	return func(s *settings) error {
		if l == nil {
			return fmt.Errorf("WithLogger: a nil logger")
		}
		s.logger = l
		return s.once("WithLogger")
	}
}
