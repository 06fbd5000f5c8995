package rlock

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/topology"
)

// Option is a setting of a Client. If an option is nil, given twice, or has a value
// that can't be used, Open and New return ErrInvalidOption.
type Option func(*settings) error

// NameMapper turns the names that callers use into the keys that Redis holds,
// as Redisson's NameMapper does. The names of the channel and of latches are
// made from the mapped name.
type NameMapper interface {
	// Map returns the key for a name. It must be pure and safe for concurrent
	// use.
	Map(name string) string
}

// settings are the options' values: the state's configuration, and what is used only
// here.
type settings struct {
	locks.Config
	given     map[string]bool
	mapper    NameMapper
	fairWait  time.Duration
	observers []Observer
	database  string // its number, for observers; empty with a pool
}

func newSettings(opts []Option) (*settings, error) {
	s := &settings{
		Config: locks.Config{
			Watchdog: 30 * time.Second,
			Timeout:  3 * time.Second,
			Courtesy: true,
			Clock:    clock.System(),
			Servers:  topology.Settings{ConnectionName: "rlock"},
			NewState: newOwnerState,
			NewHold:  newHold,
		},
		given:    map[string]bool{},
		fairWait: 5 * time.Minute,
	}
	for _, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("rlock: %w: a nil Option", ErrInvalidOption)
		}
		if err := o(s); err != nil {
			return nil, fmt.Errorf("rlock: %w: %w", ErrInvalidOption, err)
		}
	}
	if s.Margin > s.Watchdog/2 {
		return nil, fmt.Errorf("rlock: %w: WithMargin(%v): above half of the watchdog timeout, which is %v", ErrInvalidOption, s.Margin, s.Watchdog)
	}
	return s, nil
}

// option returns the Option with this name. Its error is the name and why, unless usable.
func option(name string, usable bool, why string, set func(*settings)) Option {
	return func(s *settings) error {
		switch {
		case !usable:
			return errors.New(name + why)
		case s.given[name]:
			return errors.New(name + " given twice")
		}
		s.given[name] = true
		set(s)
		return nil
	}
}

// WithWatchdogTimeout sets the lease of locks that are acquired without Lease.
// The watchdog renews them every third of that time. It is Redisson's
// lockWatchdogTimeout. Default is 30 s; at least 3 ms, rounded down to whole
// milliseconds.
func WithWatchdogTimeout(d time.Duration) Option {
	why := fmt.Sprintf("(%v): below 3ms there is no whole millisecond between renewals", d)
	return option("WithWatchdogTimeout", d >= 3*time.Millisecond, why, func(s *settings) { s.Watchdog = d.Truncate(time.Millisecond) })
}

// WithMargin sets the [Margin] of all holds that are acquired without one. An acquire whose
// Lease or MaxHold is shorter than twice d is ErrInvalidOption then, unless it has a Margin. d is
// at least 0, and at most half of the watchdog timeout. Default is 0: contexts end at
// ValidUntil, 1% of the lease before the key expires.
func WithMargin(d time.Duration) Option {
	return option("WithMargin", d >= 0, fmt.Sprintf("(%v): below 0", d), func(s *settings) { s.Margin = d })
}

// WithCommandTimeout sets how long one command may take before the client
// replaces its connection, and how long a call that has had no answer goes on in
// spite of errors before it returns. Where a comment of this package gives a
// bound in command timeouts, a call may take an eighth of one longer. It also sets
// for how long servers remember an unlock, see [Owner.String]. It is Redisson's timeout.
// Default is 3 s; at least 1 ms, at most a day.
func WithCommandTimeout(d time.Duration) Option {
	const longest = 24 * time.Hour
	why := fmt.Sprintf("(%v): below 1ms", d)
	if d > longest {
		why = fmt.Sprintf("(%v): above a day", d)
	}
	return option("WithCommandTimeout", d >= time.Millisecond && d <= longest, why, func(s *settings) { s.Timeout = d })
}

// WithFairWait sets how long a fair lock's waiter keeps its place if its wait has no
// limit. A place expires this long after the one before it, the first place this
// long after the holder's lease: with a lease of 30 s and a d of 5 min the first place lasts
// 5:30, and the second 10:30. Its waiter then queues again at the end; the server
// passes over the place of a process that died. It is Redisson's
// fairLockWaitTimeout. Default is 5 min; at least 1 ms.
func WithFairWait(d time.Duration) Option {
	return option("WithFairWait", d >= time.Millisecond, fmt.Sprintf("(%v): below 1ms", d), func(s *settings) { s.fairWait = d })
}

// WithTLSConfig sets how the client verifies a rediss:// server, and which
// client certificate it shows. With a redis+sentinel://, redis+cluster:// or
// redis+replicated:// URL it makes the client speak TLS, and each server is
// verified by its host, as the Sentinels, the cluster or the URL name it, unless
// c names one. The config is cloned. With a redis:// or unix:// URL or a pool it is ErrInvalidOption. Default
// verifies the URL's host against the system's roots.
func WithTLSConfig(c *tls.Config) Option {
	return option("WithTLSConfig", c != nil, ": a nil config", func(s *settings) { s.Servers.TLS = c })
}

// WithCredentials sets a function that returns user and password at each
// connect, so that passwords may change while the client lives. An empty user is
// Redis's default user; an empty password sends no AUTH. Existing connections
// stay as they are. If a server ends them when a password changes, the client
// calls f again. f may be called concurrently and must return when its ctx ends.
// If f fails, or the server refuses what it returned, the client calls it again,
// with growing pauses. Together with a user or password in the URL, or with a
// pool, whose Dial authenticates, it is ErrInvalidOption. Default is the user
// and password of the URL.
func WithCredentials(f func(ctx context.Context) (user, password string, err error)) Option {
	return option("WithCredentials", f != nil, ": a nil function", func(s *settings) { s.Servers.Credentials = f })
}

// WithSentinelCredentials sets a function that returns user and password for
// the Sentinels of a redis+sentinel:// URL. Those in the URL, and
// WithCredentials, are for the master alone. f is called at each connect to a
// Sentinel; otherwise it is like WithCredentials. With any other URL, or with a
// pool, it is ErrInvalidOption. Default sends the Sentinels no AUTH.
func WithSentinelCredentials(f func(ctx context.Context) (user, password string, err error)) Option {
	return option("WithSentinelCredentials", f != nil, ": a nil function", func(s *settings) { s.Servers.SentinelCredentials = f })
}

// WithSentinelTLSConfig makes the client speak TLS with the Sentinels of a
// redis+sentinel:// URL, and sets how it verifies them and which client
// certificate it shows. WithTLSConfig does the same for the master; either may
// be given without the other. Each Sentinel is verified by its host, as the URL
// or another Sentinel names it, unless c names one. The config is cloned. With
// any other URL, or with a pool, it is ErrInvalidOption. Default is plain TCP.
func WithSentinelTLSConfig(c *tls.Config) Option {
	return option("WithSentinelTLSConfig", c != nil, ": a nil config", func(s *settings) { s.Servers.SentinelTLS = c })
}

// WithDialer sets how the client reaches its servers: through an SSH tunnel or a
// proxy, or at other addresses. The client calls f for each connection, with
// "tcp" and the host:port that is in the URL or that a Sentinel or a cluster
// announces, or with "unix" and the path of a unix:// URL. The client does not
// resolve the name first, so a tunnel can reach every server of a cluster whose
// addresses are valid only inside. The client runs TLS over the connection that f
// returns, and verifies the server by that host.
//
// f may be called concurrently. Its ctx ends with the command timeout or with
// the client, and f should return then. A late dialer is abandoned: its
// connection is closed on arrival, and the address is not redialled until then.
// After an error of f the client tries again, with growing pauses. The client
// closes what f returns. Close of that connection must end pending reads and
// writes; deadlines are not needed.
//
// The client does not check whether a name has another address by now, as it
// does without WithDialer (see Open). With a pool, whose Dial does the same, it
// is ErrInvalidOption. Default is to dial these addresses directly.
func WithDialer(f func(ctx context.Context, network, addr string) (net.Conn, error)) Option {
	return option("WithDialer", f != nil, ": a nil function", func(s *settings) { s.Servers.Dialer = redisconn.Tunnelled(f) })
}

// WithConnectionName sets the name of the client's connections in CLIENT LIST:
// printable ASCII without spaces. An empty name sends no CLIENT SETNAME. If the
// account may not name connections, they have no name. The client's ID replaces
// "{id}" in the name. A name made of the host's name, the process id and "{id}"
// lets you find an owner's process: the command-line tool's "rlock show" marks
// the connections of the owner's client. With a pool, whose Dial names its
// connections, it is ErrInvalidOption. Default is "rlock". It is Redisson's
// clientName.
func WithConnectionName(name string) Option {
	odd := strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
	why := fmt.Sprintf("(%q): a name is printable ASCII without spaces", name)
	return option("WithConnectionName", !odd, why, func(s *settings) { s.Servers.ConnectionName = name })
}

// WithNameMapper sets how names become keys. Default leaves them as they are.
// It is Redisson's NameMapper.
func WithNameMapper(m NameMapper) Option {
	return option("WithNameMapper", m != nil, ": a nil mapper", func(s *settings) { s.mapper = m })
}

// WithRedisson is only for use with WithNameMapper: it names the release of Redisson that the
// client works beside, such as "3.37.0". Older releases make some names otherwise:
// before 3.52.0 those of a fair lock's queue, before 3.20.1 those of read-write locks,
// before 3.19.1 that of a PermitSemaphore's permits. With another release's names a fair
// lock's waiters don't see each other, two writers may be inside at once, and permits are
// not given back. So all processes that share such locks need releases with the same names: old
// and new releases can't share them. docs/from-java.md has the names.
//
// Without WithNameMapper the option changes nothing, since all releases make the same names
// then. A release that is not written as three numbers is ErrInvalidOption. Default is the
// newest release.
func WithRedisson(release string) Option {
	older, err := kind.Beside(release)
	return option("WithRedisson", err == nil, fmt.Sprintf(": %v", err), func(s *settings) { s.Older = older })
}

// WithReplicaSync sets whether the client waits after each change of a lock
// until the master's connected replicas have it (WAIT), for at most one second.
// The client gives back a grant that no replica acknowledged, and tries again.
// So a call that makes one attempt blocks for a second and an eighth of a command
// timeout, if the command timeout is shorter than a second.
// It is Redisson's checkLockSyncedSlaves. Default is on for redis+sentinel://,
// redis+cluster:// and redis+replicated://, and off for a redis:// URL and a
// pool, which are Redisson's single mode.
//
// Commands that are sent together share one WAIT, and commands that come
// meanwhile wait for it. So releases, undos and renewals use a second command
// connection, where they don't wait behind acquires. With a pool there is no
// second one.
//
// A replica counts while it is online, not while it receives a full copy. On a
// single server a replica that disappears stops counting at once. With Sentinels
// and in a cluster it counts until most of the Sentinels, or of the masters, have
// said twice that the master stays; if other replicas are left, for a minute at
// most. With redis+replicated:// the hosts of the URL are asked; after a minute
// those that don't answer are left out.
//
// If no replica acknowledged an unlock, or the answer to WAIT was lost, the
// client asks once more and then returns ErrUnreplicated, though the master has
// released the lock. The client does not rely on a renewal or an Extend that no
// replica acknowledged: if none is acknowledged for the length of a lease, the
// hold is lost.
func WithReplicaSync(on bool) Option {
	return option("WithReplicaSync", true, "", func(s *settings) { s.Replicas = on })
}

// WithClusterPublish sets which messages a release sends in a cluster. Waiters
// of this package receive all of them. If a server does not know SPUBLISH (Redis
// before 7), or does not let the account use it, the client sends it PUBLISH,
// whatever was set. With any other URL than redis+cluster://, or with a pool, it
// is ErrInvalidOption. Default is PublishBoth.
func WithClusterPublish(p Publish) Option {
	why := fmt.Sprintf("(%d): unknown Publish value", p)
	return option("WithClusterPublish", p <= PublishPlain, why, func(s *settings) { s.Servers.Publish = announces[p] })
}

// WithLazyConnect makes Open return once it has checked the URL and the options, so that a service
// can start before its Redis. Open does no I/O then, and the client connects when a call needs a
// server. Until it has, calls answer as they do in an outage: they return ErrUnavailable after a
// command timeout. Each call then returns the error that Open would have returned: ErrRefused for a
// wrong password, ErrInvalidOption for a node of a cluster at a redis:// URL. With a pool it is
// ErrInvalidOption, because New never connects. Default is to wait for the first answer.
func WithLazyConnect() Option {
	return option("WithLazyConnect", true, "", func(*settings) {})
}

// WithCourtesy sets whether this client steps back for slower ones. When a lock
// is released, a Go waiter reaches it long before a JVM's does, so Go would
// always get a lock that is never free for long. With courtesy on, a client that
// has lately had more than its share of a lock that others wait for makes no
// attempt for some milliseconds after a release. If those others never come,
// each client loses up to a seventieth of its time. If nobody else waits,
// courtesy costs only one PUBSUB NUMSUB now and then for a name that is taken
// again and again. An ACL that refuses that command turns courtesy off.
// docs/performance.md has measurements. TryLock, acquires with As, and waits
// with only milliseconds left never step back. Default is on. Redisson has no
// such option.
func WithCourtesy(on bool) Option {
	return option("WithCourtesy", true, "", func(s *settings) { s.Courtesy = on })
}

// WithLogger sets the logger. The client logs new connections (info);
// connections that break or can't be made, lost leases, failed renewals and
// uncertain outcomes (warn); and each acquisition and release (debug). Repeated
// warnings are rate-limited: the first is logged, then one summary every 30 s
// with a count. Every line has the client's ID as client; docs/operations.md
// lists them all. Secrets are never logged. The handler is called on the
// client's own goroutines: it must not block for long, nor call the client.
// Default is to log nothing.
func WithLogger(l *slog.Logger) Option {
	return option("WithLogger", l != nil, ": a nil logger", func(s *settings) { s.Logger = l })
}

// WithLongHoldLog logs each hold that lasts longer than d, once and at level
// info. So the log shows who forgot an Unlock, or works for longer than it
// should. d must be above 0. Default is not to log them, which costs nothing.
func WithLongHoldLog(d time.Duration) Option {
	return option("WithLongHoldLog", d > 0, fmt.Sprintf("(%v): not above 0", d), func(s *settings) { s.LongHold = d })
}
