package security

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// secret has characters that need escaping in a URL, in a log line and in Go source.
const secret = `S3cr3t "pä/ss:w@rd" %zz #?&\` + "\t" + `end-0f-s3cret`

// shapes are the forms in which the secret, or either end of it, could be shown.
func shapes() []string {
	whole := []string{secret, "S3cr3t", "end-0f-s3cret", "pä/ss"}
	for _, s := range slicesOf(secret) {
		whole = append(whole, url.QueryEscape(s), url.PathEscape(s), url.UserPassword("", s).String()[1:],
			strconv.Quote(s), strings.Trim(strconv.Quote(s), `"`), strings.Trim(strconv.QuoteToASCII(s), `"`),
			base64.StdEncoding.EncodeToString([]byte(s)), hex.EncodeToString([]byte(s)), fmt.Sprint([]byte(s)))
	}
	return whole
}

func slicesOf(s string) []string { return []string{s, s[:12], s[len(s)-12:]} }

// capture is a log of every level.
type capture struct{ testbed.Log }

// logger writes each record as text and as JSON, and attributes in Go syntax too, as some handlers do.
func (c *capture) logger() *slog.Logger {
	show := func(_ []string, a slog.Attr) slog.Attr {
		fmt.Fprintf(c, "%v %+v %#v\n", a.Value.Any(), a.Value.Any(), a.Value.Any())
		return a
	}
	o := &slog.HandlerOptions{Level: slog.LevelDebug - 10, AddSource: true, ReplaceAttr: show}
	return slog.New(slog.NewMultiHandler(slog.NewTextHandler(c, o), slog.NewJSONHandler(c, o)))
}

// spills looks for the secret in everything that v could be printed as.
func spills(t *testing.T, what string, v any) {
	t.Helper()
	texts := []string{fmt.Sprint(v), fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v), fmt.Sprintf("%s", v), fmt.Sprintf("%q", v), fmt.Sprintf("%x", v)}
	if err, ok := v.(error); ok && err != nil {
		for _, inner := range tree(err) {
			texts = append(texts, inner.Error(), fmt.Sprintf("%+v %#v", inner, inner))
		}
	}
	for _, text := range texts {
		for _, shape := range shapes() {
			if strings.Contains(text, shape) {
				t.Errorf("%s shows %q: %.500s", what, shape, text)
				return
			}
		}
	}
}

// tree returns an error and all that it wraps.
func tree(err error) []error {
	all := []error{err}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			all = append(all, tree(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			all = append(all, tree(inner)...)
		}
	}
	return all
}

func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	user := redisserver.User{Name: "worker", Password: secret, Rules: []string{"~*", "&*", "+@all"}}
	r := on(t, redisserver.ACL(t, user))
	r.LoadScripts()
	renamed := redisserver.Local(t, "--rename-command", "AUTH", "")
	denied := redisserver.ACL(t, redisserver.User{Name: "worker", Password: secret, Rules: []string{"~*", "resetchannels", "+@all", "-client", "-type"}})
	selfSigned := redisserver.TLS(t, false)
	u := func(scheme, user, addr, path string) string {
		return (&url.URL{Scheme: scheme, Host: addr, User: url.UserPassword(user, secret), Path: path}).String()
	}
	script := func(s *luasrc.Script) faultproxy.Match { return faultproxy.Script(s.SHA1) }
	for what, row := range map[string]struct {
		url     string
		opens   bool // only the later calls fail
		rules   []faultproxy.Rule
		refuses bool
	}{
		"nothing goes wrong":            {url: u("redis", "worker", "PROXY", ""), opens: true},
		"a wrong user":                  {url: u("redis", "nobody", r.Server.Addr(), "")},
		"a wrong user at the second":    {url: u("redis", "nobody", r.Server.Addr(), "/1")},
		"a server without a password":   {url: u("redis", "", selfSigned.LocalServer.Addr(), "")},
		"a server that has no AUTH":     {url: u("redis", "worker", renamed.Addr(), "")},
		"no AUTH, and only a password":  {url: u("redis", "", renamed.Addr(), "")},
		"a database that is not there":  {url: u("redis", "worker", r.Server.Addr(), "/99")},
		"nobody listens":                {url: u("redis", "worker", "127.0.0.1:1", "")},
		"no such host":                  {url: u("redis", "worker", "nowhere.invalid:6379", "")},
		"TLS with an unknown authority": {url: u("rediss", "worker", selfSigned.Addr(), "")},
		"TLS to a plain port":           {url: u("rediss", "worker", r.Server.Addr(), "")},
		"a plain URL to a TLS port":     {url: u("redis", "worker", selfSigned.Addr(), "")},
		"commands that are denied":      {url: u("redis", "worker", denied.Addr(), ""), opens: true},
		"a lost acquire":                {url: u("redis", "worker", "PROXY", ""), opens: true, rules: []faultproxy.Rule{{Match: script(luasrc.LockScript), Times: 1, Do: faultproxy.CutAfter}}},
		"lost unlocks":                  {url: u("redis", "worker", "PROXY", ""), opens: true, rules: []faultproxy.Rule{{Match: testbed.Unlocks, Do: faultproxy.CutAfter}}},
		"lost renewals":                 {url: u("redis", "worker", "PROXY", ""), opens: true, rules: []faultproxy.Rule{{Match: script(luasrc.RenewScript), Do: faultproxy.DropReply}}},
		"lost subscriptions":            {url: u("redis", "worker", "PROXY", ""), opens: true, rules: []faultproxy.Rule{{Match: faultproxy.Command("SUBSCRIBE"), Do: faultproxy.CutBefore}}},
		"a server that echoes AUTH":     {url: u("redis", "worker", "PROXY", ""), rules: []faultproxy.Rule{{Match: faultproxy.Command("AUTH"), Do: faultproxy.Answer, Reply: []byte("-ERR cannot do AUTH worker " + secret + "\r\n")}}},
		"a server that goes away":       {url: u("redis", "worker", "PROXY", ""), opens: true, refuses: true},
		"a malformed URL":               {url: "redis://worker:" + secret + "@127.0.0.1"},
		"another malformed URL":         {url: "redis://worker:" + secret},
		"a malformed port":              {url: u("redis", "worker", "127.0.0.1", "") + ":port"},
		"another topology":              {url: u("redis+cluster", "worker", "127.0.0.1:1", "")},
		"nodes without a master":        {url: u("redis+replicated", "worker", "127.0.0.1:1,"+renamed.Addr(), "")},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			proxy := faultproxy.Start(t, r.Server.Addr())
			for _, rule := range row.rules {
				proxy.Add(rule)
			}
			var log capture
			opts := []rlock.Option{rlock.WithLogger(log.logger()), rlock.WithCommandTimeout(2 * time.Second), rlock.WithWatchdogTimeout(6 * time.Second)}
			if strings.HasPrefix(row.url, "rediss") {
				opts = append(opts, rlock.WithTLSConfig(&tls.Config{ServerName: "localhost"}))
			}
			for _, o := range opts {
				spills(t, "an option", o)
			}
			c, err := rlock.Open(t.Context(), strings.Replace(row.url, "PROXY", proxy.Addr(), 1), opts...)
			if row.opens != (err == nil) {
				t.Fatalf("Open: %v", err)
			}
			spills(t, "Open's error", err)
			if c != nil {
				spills(t, "the client", c)
				spills(t, "a copy of the pointer's value", &c)
				errs := trouble(t, c, func() {
					if row.refuses {
						proxy.Refuse(true)
						proxy.CutAll()
					}
				})
				for _, err := range errs {
					spills(t, "an error", err)
				}
				failed := errors.Join(errs...) != nil
				c.Close()
				text := log.Take()
				if (failed || strings.Contains(text, "level=WARN")) == (what == "nothing goes wrong") {
					t.Errorf("want trouble to look at: %v, %q", errs, text)
				} else {
					spills(t, "the log", text)
				}
				return
			}
			spills(t, "the log", log.Take())
		})
	}
}

// trouble makes calls of every kind and returns their errors.
func trouble(t *testing.T, c *rlock.Client, between func()) (errs []error) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	note := func(err error) { errs = append(errs, err) }
	l := c.NewLock(unique())
	h, err := l.TryLockFor(ctx, 5*time.Second)
	note(err)
	spills(t, "a lock", l)
	if h == nil {
		return errs
	}
	spills(t, "a hold", h)
	spills(t, "an owner", h.Owner())
	_, err = l.TryLockFor(ctx, 2*time.Second)
	if !errors.Is(err, rlock.ErrLocked) {
		note(err)
	}
	between()
	select { // until a renewal was due
	case <-h.Done():
	case <-time.After(2200 * time.Millisecond):
	}
	note(h.Err())
	_, err = l.IsLocked(ctx)
	note(err)
	other := c.NewLock(unique())
	_, err = other.ForceUnlock(ctx)
	note(err)
	if o, err := other.TryLock(ctx, rlock.Lease(time.Minute)); err != nil {
		note(err)
	} else {
		note(o.Extend(ctx, 2*time.Minute))
		note(o.Unlock(ctx))
	}
	note(h.Unlock(ctx))
	return errs
}
