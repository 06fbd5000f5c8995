//go:build unix

package cookbook_test

// What docs/go-redis.md shows is between the markers of its name.

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// begin page: options

// openAs makes a lock client for the server that o names: its address, database,
// credentials and TLS. goredis is github.com/redis/go-redis/v9.
func openAs(ctx context.Context, o *goredis.Options, opts ...rlock.Option) (*rlock.Client, error) {
	at := url.URL{Scheme: "redis", Host: o.Addr, Path: strconv.Itoa(o.DB)}
	if o.TLSConfig != nil {
		at.Scheme = "rediss"
		opts = append(opts, rlock.WithTLSConfig(o.TLSConfig))
	}
	switch {
	case o.CredentialsProviderContext != nil: // asked at each connect, by both clients
		opts = append(opts, rlock.WithCredentials(o.CredentialsProviderContext))
	case o.Username != "":
		at.User = url.UserPassword(o.Username, o.Password)
	case o.Password != "":
		at.User = url.UserPassword("default", o.Password)
	}
	return rlock.Open(ctx, at.String(), opts...)
}

// end page

// begin page: dialer

// openThrough makes a lock client that dials as rdb does. That dialer speaks TLS by
// itself if rdb does, so the URL has no second s.
func openThrough(ctx context.Context, rdb *goredis.Client, opts ...rlock.Option) (*rlock.Client, error) {
	o := rdb.Options()
	at := url.URL{Scheme: "redis", Host: o.Addr, Path: strconv.Itoa(o.DB)}
	login := o.CredentialsProviderContext
	if login == nil {
		login = func(context.Context) (user, password string, err error) { return o.Username, o.Password, nil }
	}
	opts = append(opts, rlock.WithDialer(o.Dialer), rlock.WithCredentials(login))
	return rlock.Open(ctx, at.String(), opts...)
}

// end page

func TestGoRedisPageShowsTheCodeThatRuns(t *testing.T) {
	source, err := os.ReadFile("goredis_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../go-redis.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(source), "\n// begin page: ")
	for ; found; _, rest, found = strings.Cut(rest, "\n// begin page: ") {
		name, text, _ := strings.Cut(rest, "\n\n")
		text, _, _ = strings.Cut(text, "\n// end page\n")
		if want := "<!-- cookbook/goredis_test.go: " + name + " -->\n```go\n" + text + "```\n"; !strings.Contains(string(page), want) {
			t.Errorf("the page does not show\n%s", want)
		}
	}
	if n := strings.Count(string(page), "```go\n"); n != 2 {
		t.Errorf("the page has %d blocks of Go", n)
	}
	module, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(string(module), "github.com/redis/go-redis/v9 ")
	if version, _, _ = strings.Cut(version, "\n"); version == "" || !strings.Contains(string(page), "go-redis "+version+".\n") {
		t.Errorf("the page does not say that it was run with %q", version)
	}
}

func TestLocksBesideGoRedis(t *testing.T) {
	t.Parallel()
	const password = "not secret"
	server := redistest.Start(t, "--requirepass", password)
	secure, roots := encrypted(t, server.Addr())
	for what, o := range map[string]*goredis.Options{
		"plain":       {Addr: server.Addr(), Password: password, DB: 3},
		"with a user": {Addr: server.Addr(), Username: "default", Password: password, DB: 4},
		"TLS":         {Addr: secure, Password: password, DB: 5, TLSConfig: &tls.Config{RootCAs: roots}},
	} {
		t.Run(what, func(t *testing.T) {
			rdb := goredis.NewClient(o)
			defer rdb.Close()
			for way, open := range map[string]func() (*rlock.Client, error){
				"options": func() (*rlock.Client, error) { return openAs(t.Context(), o) },
				"dialer":  func() (*rlock.Client, error) { return openThrough(t.Context(), rdb) },
			} {
				client, err := open()
				if err != nil {
					t.Fatalf("%s: %v", way, err)
				}
				err = client.NewLock("orders").Do(t.Context(), func(ctx context.Context) error {
					n, err := rdb.HLen(ctx, "orders").Result()
					if n != 1 {
						t.Errorf("%s: go-redis sees %d owners in database %d", way, n, o.DB)
					}
					return err
				})
				if err != nil {
					t.Errorf("%s: %v", way, err)
				}
				client.Close()
			}
		})
	}
	t.Run("credentials that change", func(t *testing.T) {
		var asked atomic.Int64
		o := &goredis.Options{
			Addr: server.Addr(),
			CredentialsProviderContext: func(context.Context) (string, string, error) {
				asked.Add(1)
				return "default", password, nil
			},
		}
		rdb := goredis.NewClient(o)
		defer rdb.Close()
		for way, open := range map[string]func() (*rlock.Client, error){
			"options": func() (*rlock.Client, error) { return openAs(t.Context(), o) },
			"dialer":  func() (*rlock.Client, error) { return openThrough(t.Context(), rdb) },
		} {
			before := asked.Load()
			client, err := open()
			if err != nil {
				t.Fatalf("%s: %v", way, err)
			}
			client.Close()
			if asked.Load() == before {
				t.Errorf("%s: nobody asked for them", way)
			}
		}
	})
}

// encrypted puts TLS before a server, and says whom to trust for it.
func encrypted(t *testing.T, plain string) (addr string, roots *x509.CertPool) {
	t.Helper()
	web := httptest.NewTLSServer(nil) // for its certificate only
	roots = x509.NewCertPool()
	roots.AddCert(web.Certificate())
	settings := &tls.Config{Certificates: web.TLS.Certificates}
	web.Close()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", settings)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		all.Wait()
	})
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
	return listener.Addr().String(), roots
}
