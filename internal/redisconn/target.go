package redisconn

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Target is one server as a URL names it.
type Target struct {
	Address  string      // host:port, or the path of a socket
	Username string      // empty: the default user
	Password string      // empty: no AUTH
	Database int         // 0: no SELECT
	TLS      *tls.Config // nil: plain TCP; verifies the host by its ServerName

	Name        string      // for CLIENT SETNAME; empty: none
	Credentials Credentials // called at each Dial, instead of Username and Password; may be nil
	Option      string      // the option that sets Credentials, for an error; empty: WithCredentials, or the URL
	TLSOption   string      // the option that sets TLS, for an error; empty: the URL's scheme and WithTLSConfig
	Dialer      Dialer      // makes the stream beneath TLS; nil: a net.Dialer does

	open  sync.Map // of *Conn: the open connections
	dials sync.Map // of *context.CancelFunc: ends a Dial under way

	worked atomic.Bool // a Dial of it has succeeded, or of one with its settings
	from   *Target     // the one that At was first called of, whose settings it has; nil: none
}

// Credentials returns the user, empty for the default one, and the password for one
// connection. If it returns an error, the attempt to connect fails.
type Credentials func(ctx context.Context) (user, password string, err error)

// ErrTopology is matched by the error for a URL that names more than one server,
// and for a server that is not of the URL's topology.
var ErrTopology = errors.New("not the URL of one server")

// TopologyError is an ErrTopology with another text.
type TopologyError string

// Error is the text.
func (e TopologyError) Error() string { return string(e) }

// Is tells whether target is ErrTopology.
func (e TopologyError) Is(target error) bool { return target == ErrTopology }

// wantSchemes names the schemes that Open accepts, for an error.
const wantSchemes = "want redis://, rediss://, valkey://, valkeys://, unix://, redis+sentinel://, redis+cluster:// or redis+replicated://"

// ParseURL reads redis://[user:password@]host[:port][/db] and rediss://, the
// same over TLS; valkey:// and valkeys:// are the same. The default port is 6379,
// the default database 0. For a Unix socket it reads
// unix://[user:password@]/path[?db=number]. An error names the part that is wrong
// and never prints the URL or a piece of it that could hold a password. A URL of
// several servers, a Sentinel or a cluster gives an error that matches ErrTopology.
func ParseURL(raw string) (*Target, error) {
	if err := CheckURL(raw); err != nil {
		return nil, err
	}
	_, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return nil, errors.New("url: no scheme; " + wantSchemes + "; host:port is written redis://host:port")
	}
	scheme := Scheme(raw)
	switch scheme {
	case "redis", "rediss", "valkey", "valkeys", "unix":
	case "redis+sentinel", "redis+cluster", "redis+replicated":
		return nil, fmt.Errorf("url scheme %s://: %w", scheme, ErrTopology)
	default:
		return nil, errors.New("url: unknown scheme; " + wantSchemes)
	}
	if authority, _, _ := strings.Cut(rest, "/"); scheme != "unix" && strings.Contains(authority[strings.LastIndex(authority, "@")+1:], ",") {
		return nil, TopologyError("url: several hosts; only redis+sentinel://, redis+cluster:// and redis+replicated:// have them")
	}
	if strings.Contains(rest, "#") {
		return nil, errors.New("url: a fragment (#) has no meaning here; a # in a password is written %23")
	}
	// url.Parse's errors quote the input, and what it takes for a port may be
	// the end of a password.
	u, err := url.Parse(raw)
	if err != nil {
		if scheme != "unix" && oddPort(rest) {
			return nil, errPort
		}
		return nil, errors.New("url: user, host or port malformed; reserved characters in a password are percent-encoded")
	}
	db := strings.TrimPrefix(u.Path, "/")
	if scheme == "unix" {
		var only bool
		if db, only = strings.CutPrefix(u.RawQuery, "db="); u.RawQuery != "" && !only {
			return nil, errors.New("url: the query of a socket's is ?db=number; settings are options of Open")
		}
	} else if u.RawQuery != "" || u.ForceQuery {
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
	if db != "" {
		n, err := strconv.ParseUint(db, 10, 31)
		if err != nil {
			return nil, errors.New("url: the database after the host, or of ?db=, is not a number")
		}
		t.Database = int(n)
	}
	if scheme == "unix" {
		if u.Host != "" || !strings.HasPrefix(u.Path, "/") || u.Path == "/" {
			return nil, errors.New("url: a socket is unix:///path, with three slashes")
		}
		t.Address = u.Path
		return t, nil
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
		return nil, errPort
	}
	t.Address = net.JoinHostPort(host, port)
	if scheme == "rediss" || scheme == "valkeys" {
		t.TLS = &tls.Config{ServerName: host}
	}
	return t, nil
}

var errPort = errors.New("url: the port is not a number from 1 to 65535")

// oddPort tells whether the text that follows a URL's scheme has a port that is no number. If an @
// follows the host, that text may be the start of a password instead.
func oddPort(rest string) bool {
	host, after, _ := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	_, port, ok := strings.Cut(host[strings.LastIndexByte(host, ']')+1:], ":")
	return ok && strings.Trim(port, "0123456789") != "" && !strings.ContainsAny(port, "?:") && !strings.Contains(after, "@")
}

// Scheme returns the scheme of a URL, in small letters because its case means nothing.
func Scheme(raw string) string {
	scheme, _, _ := strings.Cut(raw, "://")
	return strings.ToLower(scheme)
}

// CheckURL returns an error for characters that no URL has.
func CheckURL(raw string) error {
	switch {
	case raw != "" && strings.Trim(raw[len(raw)-1:], "\r\n") == "":
		return errors.New("url: a newline at the end, as of a line in a file; remove it before Open")
	case strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return errors.New("url: a space or a control character")
	}
	return nil
}

// network is the network of t.Address, for a dialer.
func (t *Target) network() string {
	if strings.HasPrefix(t.Address, "/") {
		return "unix"
	}
	return "tcp"
}

// At returns the Target of the server at addr, with the settings of t. Its certificate
// must name the host of addr, unless the TLS configuration names another.
func (t *Target) At(addr string) *Target {
	at := &Target{
		Address: addr, Username: t.Username, Password: t.Password, Database: t.Database, TLS: t.TLS.Clone(),
		Name: t.Name, Credentials: t.Credentials, Option: t.Option, TLSOption: t.TLSOption, Dialer: t.Dialer, from: cmp.Or(t.from, t),
	}
	if at.TLS != nil {
		at.TLS.MinVersion = cmp.Or(at.TLS.MinVersion, tls.VersionTLS12)
		if at.TLS.ServerName == "" {
			at.TLS.ServerName, _, _ = net.SplitHostPort(addr)
		}
	}
	return at
}

// connect makes the stream beneath TLS.
func (t *Target) connect(ctx context.Context) (net.Conn, error) {
	dial, what := t.Dialer, "connect to "+t.Address
	if dial == nil { // the system's errors have the address
		dial, what = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext, "connect"
	}
	nc, err := dial(ctx, t.network(), t.Address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return nc, nil
}
