package redisconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Target is one server as a URL names it.
type Target struct {
	Address  string      // host:port
	Username string      // empty: the default user
	Password string      // empty: no AUTH
	Database int         // 0: no SELECT
	TLS      *tls.Config // nil: plain TCP

	Name        string      // for CLIENT SETNAME; empty: none
	Credentials Credentials // asked at each Dial in the place of Username and Password; nil: not asked
	Dialer      Dialer      // makes the stream, beneath TLS; nil: the system's

	open peers
}

// Credentials gives the user, empty for the default one, and the password for
// one connection. Its error ends the attempt to connect.
type Credentials func(ctx context.Context) (user, password string, err error)

// String names the server without its secrets.
func (t *Target) String() string { return t.Address }

// ErrTopology is in the error for a URL of a topology that is not built yet, and
// for a server that is not of the URL's topology.
var ErrTopology = errors.New("only single servers (redis:// or rediss://) and Sentinels (redis+sentinel://) are supported so far")

// topologyError is ErrTopology where the text says what to do.
type topologyError string

func (e topologyError) Error() string { return string(e) }

// Is tells that it is ErrTopology.
func (e topologyError) Is(target error) bool { return target == ErrTopology }

// ParseURL reads redis://[user:password@]host[:port][/db] and rediss://, the
// same over TLS. The default port is 6379, the default database 0. An error
// names the part that is wrong and never prints the URL or a piece of it that
// could hold a password.
func ParseURL(raw string) (*Target, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return nil, errors.New("url: no scheme; want redis://, rediss:// or redis+sentinel://")
	}
	switch scheme {
	case "redis", "rediss":
	case "redis+sentinel", "redis+cluster":
		return nil, fmt.Errorf("url scheme %s://: %w", scheme, ErrTopology)
	default:
		return nil, errors.New("url: unknown scheme; want redis://, rediss:// or redis+sentinel://")
	}
	if authority, _, _ := strings.Cut(rest, "/"); strings.Contains(authority[strings.LastIndex(authority, "@")+1:], ",") {
		return nil, topologyError("url: several hosts: only redis+sentinel:// has them so far")
	}
	if strings.Contains(rest, "#") {
		return nil, errors.New("url: a fragment (#) has no meaning here; a # in a password is written %23")
	}
	// The text of url.Parse's errors quotes its input, and what it takes for
	// a port may be the tail of a password.
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("url: user, host or port malformed; reserved characters in a password are percent-encoded")
	}
	if u.RawQuery != "" || u.ForceQuery {
		return nil, errors.New("url: a query has no meaning here; settings are options of Open")
	}
	t := &Target{}
	if u.User != nil {
		t.Username = u.User.Username()
		t.Password, _ = u.User.Password()
		if t.Username != "" && t.Password == "" {
			return nil, errors.New("url: a user without a password")
		}
	}
	host, port := u.Hostname(), u.Port()
	if host == "" {
		return nil, errors.New("url: no host")
	}
	if port == "" {
		if strings.HasSuffix(u.Host, ":") {
			return nil, errors.New("url: the port is empty")
		}
		port = "6379"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil, errors.New("url: the port is not a number from 1 to 65535")
	}
	t.Address = net.JoinHostPort(host, port)
	if db := strings.TrimPrefix(u.Path, "/"); db != "" {
		n, err := strconv.ParseUint(db, 10, 31)
		if err != nil {
			return nil, errors.New("url: the database after the host is not a number")
		}
		t.Database = int(n)
	}
	if scheme == "rediss" {
		t.TLS = &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	}
	return t, nil
}

// UseTLS sets the configuration for a rediss:// target; a plain target
// refuses it. The host of the URL is verified unless c names another.
func (t *Target) UseTLS(c *tls.Config) error {
	if t.TLS == nil {
		return errors.New("a TLS configuration for a redis:// URL; TLS needs rediss://")
	}
	c = c.Clone()
	if c.ServerName == "" {
		c.ServerName = t.TLS.ServerName
	}
	t.TLS = c
	return nil
}

// connect makes the stream beneath TLS.
func (t *Target) connect(ctx context.Context) (net.Conn, error) {
	if t.Dialer != nil {
		nc, err := t.Dialer(ctx, "tcp", t.Address)
		if err != nil {
			return nil, fmt.Errorf("connect to %s: %w", t.Address, err)
		}
		return nc, nil
	}
	d := &net.Dialer{KeepAlive: 30 * time.Second}
	nc, err := d.DialContext(ctx, "tcp", t.Address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return nc, nil
}
