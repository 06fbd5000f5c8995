package rlock_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// tunnel dials servers by addresses that only it can resolve.
type tunnel struct {
	mu     sync.Mutex // guards the maps
	inside map[string]string
	dials  map[string]int
}

// lead maps an address inside to an address of this machine.
func (n *tunnel) lead(inside, outside string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.inside == nil {
		n.inside, n.dials = map[string]string{}, map[string]int{}
	}
	n.inside[inside] = outside
}

// dialled counts the dials to an address.
func (n *tunnel) dialled(inside string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials[inside]
}

// Dial is a dialer for rlock.WithDialer.
func (n *tunnel) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	n.mu.Lock()
	outside, ok := n.inside[addr]
	if ok {
		n.dials[addr]++
	}
	n.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("nothing inside is called %s", addr)
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, outside)
	return channel{conn}, err
}

// channel is a connection without deadlines, like a channel of SSH.
type channel struct{ net.Conn }

var errNoDeadlines = errors.New("deadlines are not supported")

func (channel) SetDeadline(time.Time) error      { return errNoDeadlines }
func (channel) SetReadDeadline(time.Time) error  { return errNoDeadlines }
func (channel) SetWriteDeadline(time.Time) error { return errNoDeadlines }

// secured starts a TLS proxy for the server at plain. The certificate is for example.com and 127.0.0.1.
func secured(t *testing.T, plain string) (addr string, roots *x509.CertPool) {
	t.Helper()
	web := httptest.NewTLSServer(nil) // for its certificate only
	ca, key := web.Certificate(), web.TLS.Certificates
	web.Close()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: key})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { listener.Close(); all.Wait() })
	all.Go(func() {
		for {
			outer, err := listener.Accept()
			if err != nil {
				return
			}
			inner, err := net.Dial("tcp", plain)
			if err != nil {
				outer.Close()
				continue
			}
			all.Go(func() { _, _ = io.Copy(inner, outer); inner.Close() })
			all.Go(func() { _, _ = io.Copy(outer, inner); outer.Close() })
		}
	})
	roots = x509.NewCertPool()
	roots.AddCert(ca)
	return listener.Addr().String(), roots
}

// network is a topology behind a tunnel.
type network struct {
	tunnel
	scheme  string // of its URL
	rest    string // of its URL
	servers []*redistest.Server
	at      []string // each server's address inside
	watch   []*redistest.Server
	watchAt []string
	options []rlock.Option
}

// everywhere runs a command on each server and each Sentinel.
func (n *network) everywhere(t *testing.T, command string, args ...any) {
	t.Helper()
	for _, s := range append(n.servers[:len(n.servers):len(n.servers)], n.watch...) {
		if _, err := s.Dial(t).Do(command, args...); err != nil {
			t.Fatal(err)
		}
	}
}

// lead maps all addresses to their servers, through TLS if encrypted is set.
func (n *network) lead(t *testing.T, encrypted bool) {
	t.Helper()
	var roots *x509.CertPool
	each := func(servers []*redistest.Server, at []string) {
		for i, s := range servers {
			outside := s.Addr()
			if encrypted {
				outside, roots = secured(t, s.Addr())
			}
			n.tunnel.lead(at[i], outside)
		}
	}
	each(n.servers, n.at)
	each(n.watch, n.watchAt)
	if encrypted {
		n.options = append(n.options, rlock.WithTLSConfig(&tls.Config{RootCAs: roots}))
		if len(n.watch) > 0 {
			n.options = append(n.options, rlock.WithSentinelTLSConfig(&tls.Config{RootCAs: roots}))
		}
	}
}

func (n *network) open(t *testing.T, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	c, err := rlock.Open(t.Context(), n.scheme+"://"+n.rest, append(append(opts, n.options...), rlock.WithDialer(n.Dial))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func oneInside(t *testing.T) *network {
	return &network{scheme: "redis", rest: "example.com:7001", servers: []*redistest.Server{redistest.Start(t)}, at: []string{"example.com:7001"}}
}

// sentinelsInside starts Sentinels whose names only the tunnel can resolve. The master keeps the address
// by which they know it.
func sentinelsInside(t *testing.T) *network {
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	n := &network{scheme: "redis+sentinel", rest: "example.com:1,example.com:2,example.com:3/" + redistest.MasterName, servers: set.Nodes, watch: set.Sentinels}
	for _, s := range set.Nodes {
		n.at = append(n.at, s.Addr())
	}
	for i, s := range set.Sentinels {
		n.watchAt = append(n.watchAt, fmt.Sprint("example.com:", i+1))
		n.tunnel.lead(s.Addr(), s.Addr()) // the addresses by which they know each other; nobody has to reach them
	}
	return n
}

// clusterInside starts a cluster that announces a name that only the tunnel can resolve; the client's URL
// has another one.
func clusterInside(t *testing.T) *network {
	c := topologytest.StartReplicated(t, 1, 1, 1)
	n := &network{scheme: "redis+cluster", rest: "example.com:1", servers: c.Servers}
	for i, s := range c.Servers {
		for _, set := range [][2]string{{"cluster-announce-hostname", "example.com"}, {"cluster-preferred-endpoint-type", "hostname"}} {
			if _, err := c.Conn(i).Do("CONFIG", "SET", set[0], set[1]); err != nil {
				t.Fatal(err)
			}
		}
		n.at = append(n.at, fmt.Sprint("example.com:", s.Port()))
	}
	for i := range c.Servers {
		becomes(t, "each server announces the names of all", func() bool {
			slots, err := redis.Values(c.Conn(i).Do("CLUSTER", "SLOTS"))
			return err == nil && strings.Count(fmt.Sprintf("%s", slots), "example.com") == len(c.Servers)
		})
	}
	n.servers, n.at = append(n.servers, c.Servers[0]), append(n.at, "example.com:1")
	return n
}

// The client reaches each kind of server by the dialer alone, verifies it by the name that the dialer got,
// and keeps its connections working when the passwords change.
func TestEachTopologyThroughATunnel(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	for name, start := range map[string]func(*testing.T) *network{"one": oneInside, "sentinels": sentinelsInside, "cluster": clusterInside} {
		for _, encrypted := range []bool{false, true} {
			beside.Run(t, fmt.Sprintf("%s, encrypted=%t", name, encrypted), func(t *testing.T) {
				n := start(t)
				n.lead(t, encrypted)
				if encrypted && n.scheme == "redis" {
					n.scheme = "rediss"
				}
				throughTunnel(t, n)
			})
		}
	}
}

func throughTunnel(t *testing.T, n *network) {
	var password atomic.Value
	var asked, watchers atomic.Int32
	say := func(count *atomic.Int32) func(context.Context) (string, string, error) {
		return func(context.Context) (string, string, error) {
			count.Add(1)
			return "app", password.Load().(string), nil
		}
	}
	n.options = append(n.options, patient, rlock.WithCredentials(say(&asked)))
	if len(n.watch) > 0 {
		n.options = append(n.options, rlock.WithSentinelCredentials(say(&watchers)))
	}
	password.Store("one")
	n.everywhere(t, "ACL", "SETUSER", "app", "on", ">one", "~*", "&*", "+@all")
	a, b := n.open(t), n.open(t)
	passOn := func(lock string) {
		h, err := a.NewLock(lock).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		entered := make(chan error, 1)
		go func() {
			h, err := b.NewLock(lock).Lock(t.Context())
			if err == nil {
				err = h.Unlock(t.Context())
			}
			entered <- err
		}()
		becomes(t, "the other client waits", func() bool { return n.subscribed(t, lock) })
		if err := h.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-entered; err != nil {
			t.Error(err)
		}
	}
	locks := []string{nameOf(0, 0), nameOf(1, 0), nameOf(2, 0)} // one of each master of a cluster
	for _, lock := range locks {
		passOn(lock)
	}
	if h, err := a.NewLock("kept").Lock(t.Context()); err != nil {
		t.Error(err)
	} else {
		defer func() {
			if err := h.Unlock(t.Context()); err != nil {
				t.Errorf("held while the password changed: %v", err)
			}
		}()
	}
	before, watched := asked.Load(), watchers.Load()
	// Each server accepts the new password before any server ends a connection, as in a real password
	// change.
	n.everywhere(t, "ACL", "SETUSER", "app", ">two")
	password.Store("two")
	n.everywhere(t, "ACL", "SETUSER", "app", "resetpass", ">two")
	n.everywhere(t, "CLIENT", "KILL", "USER", "app")
	for _, lock := range locks {
		passOn(lock)
	}
	if asked.Load() == before || len(n.watch) > 0 && watchers.Load() == watched {
		t.Errorf("asked %d and %d times for the new password", asked.Load()-before, watchers.Load()-watched)
	}
	for _, at := range append(n.at[:1:1], n.watchAt...) {
		if n.dialled(at) == 0 {
			t.Errorf("%s was never dialled", at)
		}
	}
}

// subscribed tells whether a client is subscribed to a lock's channel, on any server.
func (n *network) subscribed(t *testing.T, lock string) bool {
	t.Helper()
	for _, s := range n.servers {
		conn := s.Dial(t)
		list, err := redis.String(conn.Do("CLIENT", "LIST", "TYPE", "pubsub"))
		conn.Close()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(list) {
			if strings.Contains(line, " name=rlock ") && !strings.Contains(line, " sub=0 ") {
				return true
			}
		}
	}
	return false
}

// The certificate must match the server's name inside, not the address that the tunnel dials.
func TestServerBehindATunnelIsVerifiedByItsName(t *testing.T) {
	t.Parallel()
	n := oneInside(t)
	n.lead(t, true)
	n.scheme, n.rest = "rediss", "example.org:7001"
	n.tunnel.lead("example.org:7001", n.inside["example.com:7001"])
	c, err := rlock.Open(t.Context(), n.scheme+"://"+n.rest, append(n.options, rlock.WithDialer(n.Dial))...)
	if err == nil {
		c.Close()
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); !ok {
		t.Errorf("got %v", err)
	}
}

func TestDialerThatCantBeUsed(t *testing.T) {
	t.Parallel()
	n := oneInside(t)
	_, nilErr := rlock.Open(t.Context(), "redis://example.com", rlock.WithDialer(nil))
	_, twice := rlock.Open(t.Context(), "redis://example.com", rlock.WithDialer(n.Dial), rlock.WithDialer(n.Dial))
	_, pooled := rlock.New(&redis.Pool{}, rlock.WithDialer(n.Dial))
	for _, err := range []error{nilErr, twice, pooled} {
		if !errors.Is(err, rlock.ErrInvalidOption) || !strings.Contains(err.Error(), "WithDialer") {
			t.Errorf("got %v", err)
		}
	}
}

// Open returns the dialer's error, and a dialer that does not return holds nobody up.
func TestDialerThatFails(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "dials run into their timeouts")
	refused := errors.New("the gate is shut")
	const timeout = 200 * time.Millisecond
	for name, dial := range map[string]func(context.Context, string, string) (net.Conn, error){
		"an error": func(context.Context, string, string) (net.Conn, error) { return nil, refused },
		"nothing":  func(context.Context, string, string) (net.Conn, error) { return nil, nil },
		"no end": func() func(context.Context, string, string) (net.Conn, error) {
			gate := make(chan struct{})
			t.Cleanup(func() { close(gate) })
			return func(context.Context, string, string) (net.Conn, error) { <-gate; return nil, refused }
		}(),
	} {
		for _, url := range []string{"redis://a:1", "redis+sentinel://a:1,b:2/m", "redis+cluster://a:1,b:2", "redis+replicated://a:1,b:2"} {
			c, err := rlock.Open(t.Context(), url, rlock.WithDialer(dial), rlock.WithCommandTimeout(timeout))
			if err == nil {
				c.Close()
			}
			if err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s, %s: %v", name, url, err)
			}
			if name == "an error" && !errors.Is(err, refused) {
				t.Errorf("%s: %v", url, err)
			}
		}
	}
}
