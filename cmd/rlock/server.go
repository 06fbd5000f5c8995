package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/rlock"
)

// server is where the locks are, by the command line and the environment.
type server struct {
	url, passwordFile                  string
	sentinelUser, sentinelPasswordFile string
	tls, sentinelTLS                   bool
	readOnly                           bool // read a replica while its master can't be read
	ca, cert, key                      string
	via                                []string
	timeout                            time.Duration
}

func (s *server) flags(f *pflag.FlagSet) {
	f.StringVar(&s.url, "url", "", "where the server is (default REDIS_URL, then redis://localhost:6379)")
	f.StringVar(&s.passwordFile, "password-file", "", "file whose first line is the password")
	f.StringVar(&s.sentinelUser, "sentinel-user", "", "the account at the Sentinels")
	f.StringVar(&s.sentinelPasswordFile, "sentinel-password-file", "", "file whose first line is the password at the Sentinels")
	f.BoolVar(&s.tls, "tls", false, "speak TLS with the servers of a URL with several hosts")
	f.BoolVar(&s.sentinelTLS, "sentinel-tls", false, "speak TLS with the Sentinels")
	f.StringVar(&s.ca, "tls-ca", "", "file with the authorities to trust (default: the system's)")
	f.StringVar(&s.cert, "tls-cert", "", "file with a certificate of this client")
	f.StringVar(&s.key, "tls-key", "", "file with its key")
	f.StringArrayVar(&s.via, "via", nil, "connect by `FROM=TO` to TO where FROM is announced or in the URL, each HOST or HOST:PORT; repeatable")
	f.DurationVar(&s.timeout, "timeout", 3*time.Second, "how long one command may take")
}

// full returns the URL with the password of the file.
func (s *server) full() (string, error) {
	raw := cmp.Or(s.url, os.Getenv("REDIS_URL"), "redis://localhost:6379")
	if s.passwordFile == "" {
		return raw, nil
	}
	password, err := firstLine(s.passwordFile)
	if err != nil {
		return "", err
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return raw, nil // Parse refuses it
	}
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	user, _, has := strings.Cut(rest[:max(at, 0)], ":")
	if has {
		return "", wrong("--password-file: the URL has a password as well")
	}
	return scheme + "://" + user + ":" + escaped(password) + "@" + rest[at+1:], nil
}

// escaped escapes a password for a URL.
func escaped(password string) string {
	return strings.ReplaceAll(url.QueryEscape(password), "+", "%20")
}

func firstLine(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", wrong("%w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", wrong("%s: the first line is empty", file)
	}
	return line, nil
}

// certificates returns the config of --tls, --sentinel-tls and their files, nil without them.
func (s *server) certificates() (*tls.Config, error) {
	if !s.tls && !s.sentinelTLS && s.ca == "" && s.cert == "" && s.key == "" {
		return nil, nil
	}
	c := &tls.Config{}
	if s.ca != "" {
		pem, err := os.ReadFile(s.ca)
		if err != nil {
			return nil, wrong("%w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, wrong("%s has no certificate", s.ca)
		}
	}
	if s.cert != "" || s.key != "" {
		pair, err := tls.LoadX509KeyPair(s.cert, s.key)
		if err != nil {
			return nil, wrong("--tls-cert, --tls-key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// sentinelAccount returns the Sentinels' credentials, or nil.
func (s *server) sentinelAccount() (redisconn.Credentials, error) {
	if s.sentinelPasswordFile == "" {
		if s.sentinelUser != "" {
			return nil, wrong("--sentinel-user needs --sentinel-password-file")
		}
		return nil, nil
	}
	password, err := firstLine(s.sentinelPasswordFile)
	return func(context.Context) (string, string, error) { return s.sentinelUser, password, nil }, err
}

// open makes a client of the library.
func (s *server) open(ctx context.Context, opts ...rlock.Option) (*rlock.Client, error) {
	r, err := s.reader()
	if err != nil {
		return nil, err
	}
	opts = append(opts, rlock.WithCommandTimeout(s.timeout))
	if r.parts.Target.TLS != nil {
		opts = append(opts, rlock.WithTLSConfig(r.parts.Target.TLS))
	}
	if r.sentinels.TLS != nil {
		opts = append(opts, rlock.WithSentinelTLSConfig(r.sentinels.TLS))
	}
	if r.sentinels.Credentials != nil {
		opts = append(opts, rlock.WithSentinelCredentials(r.sentinels.Credentials))
	}
	if r.parts.Target.Dialer != nil {
		opts = append(opts, rlock.WithDialer(r.parts.Target.Dialer))
	}
	return rlock.Open(ctx, r.raw, opts...)
}

// reader makes a reader of these servers. It does no I/O.
func (s *server) reader() (*reader, error) {
	if s.timeout < time.Millisecond {
		return nil, wrong("--timeout is at least 1ms")
	}
	raw, err := s.full()
	if err != nil {
		return nil, err
	}
	parts, err := topology.Parse(raw)
	if err != nil {
		return nil, wrong("%w", err)
	}
	config, err := s.certificates()
	if err != nil {
		return nil, err
	}
	sentinels := &redisconn.Target{Name: "rlock-cli", TLSOption: "WithSentinelTLSConfig"}
	if sentinels.Credentials, err = s.sentinelAccount(); err != nil {
		return nil, err
	}
	if parts.Target.Dialer, err = s.dialer(); err != nil {
		return nil, err
	}
	sentinels.Dialer = parts.Target.Dialer
	switch {
	case parts.Master == "" && (s.sentinelTLS || sentinels.Credentials != nil):
		return nil, wrong("the URL has no Sentinels: it is written redis+sentinel://")
	case config != nil && parts.Target.TLS == nil && parts.Master == "" && !parts.Cluster && !parts.Replicated:
		return nil, wrong("TLS with a redis:// URL: it is written rediss://")
	case config != nil && (s.tls || !s.sentinelTLS): // files alone are for the servers
		if parts.Target.TLS != nil {
			config.ServerName = parts.Target.TLS.ServerName
		}
		parts.Target.TLS = config
	}
	if s.sentinelTLS {
		sentinels.TLS = config
	}
	parts.Target.Name = "rlock-cli"
	return &reader{server: s, raw: raw, parts: parts, sentinels: sentinels, nodes: map[string]*node{}}, nil
}

// interruptible returns a context that a signal ends. Its cause has the signal's status.
func interruptible() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals) // a second one ends the program
			number, _ := s.(syscall.Signal)
			cancel(&exit{128 + int(number), nil})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// unreachableError says why a server can't be asked: nothing answers, or the server refuses the account.
func unreachableError(err error) error {
	if e, ok := err.(*exit); ok {
		return e
	}
	if redisconn.IsRefusal(err) {
		return &exit{unreachable, fmt.Errorf("the server refused: %w", err)}
	}
	return &exit{unreachable, fmt.Errorf("can't reach the server: %w", err)}
}
