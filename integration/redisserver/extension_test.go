package redisserver_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/redisserver"
)

func TestTLSServer(t *testing.T) {
	s := redisserver.TLS(t, false)
	if !strings.HasPrefix(s.URL(), "rediss://") || s.Addr() == s.LocalServer.Addr() {
		t.Errorf("URL %s, plain %s", s.URL(), s.LocalServer.Addr())
	}
	must(t, redisserver.Dial(t, s, redis.DialTLSConfig(s.Config(t))), "SET", "k", "v")
	stranger := &tls.Config{RootCAs: redisserver.NewAuthority(t).Pool(), ServerName: "localhost"}
	if _, err := redis.DialURL(s.URL(), redis.DialTLSConfig(stranger)); !errors.As(err, new(x509.UnknownAuthorityError)) {
		t.Errorf("a stranger's authority: %v", err)
	}
	wrongName := s.Config(t)
	wrongName.ServerName = "example.test"
	if _, err := redis.DialURL(s.URL(), redis.DialTLSConfig(wrongName)); !errors.As(err, new(x509.HostnameError)) {
		t.Errorf("a wrong name: %v", err)
	}
	s.Restart()
	if v, err := redis.String(redisserver.Dial(t, s, redis.DialTLSConfig(s.Config(t))).Do("GET", "k")); v != "v" || err != nil {
		t.Errorf("after Restart: %q, %v", v, err)
	}
}

func TestTLSServerThatWantsClientCertificates(t *testing.T) {
	s := redisserver.TLS(t, true)
	must(t, redisserver.Dial(t, s, redis.DialTLSConfig(s.Config(t))), "PING")
	for name, certificates := range map[string][]tls.Certificate{
		"none":       nil,
		"a stranger": {redisserver.NewAuthority(t).Issue(t)},
	} {
		config := s.Config(t)
		config.Certificates = certificates
		conn, err := redis.DialURL(s.URL(), redis.DialTLSConfig(config), redis.DialReadTimeout(5*time.Second))
		if err == nil {
			_, err = conn.Do("PING") // TLS 1.3 refuses a client when it first reads
			conn.Close()
		}
		if err == nil || isTimeout(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUsersWithRules(t *testing.T) {
	user := redisserver.User{Name: "worker", Password: "p@ss:/", Rules: []string{"~lock:*", "&*", "+@all", "-client"}}
	s := redisserver.ACL(t, user)
	for range 2 {
		c, err := redis.DialURL(redisserver.URLAs(s, user))
		if err != nil {
			t.Fatal(err)
		}
		must(t, c, "SET", "lock:a", "v")
		for _, refused := range [][]any{{"SET", "other", "v"}, {"CLIENT", "ID"}} {
			if _, err := c.Do(refused[0].(string), refused[1:]...); err == nil || !strings.HasPrefix(err.Error(), "NOPERM") {
				t.Errorf("%v: %v", refused, err)
			}
		}
		c.Close()
		s.Restart()
	}
	user.Password = "wrong"
	if c, err := redis.DialURL(redisserver.URLAs(s, user)); err == nil || !strings.HasPrefix(err.Error(), "WRONGPASS") {
		t.Errorf("%v, %v", c, err)
	}
}

func TestReplicaFollows(t *testing.T) {
	master := redisserver.Local(t)
	must(t, redisserver.Dial(t, master), "SET", "before", "v")
	replica := redisserver.Replica(t, master)
	if got := value(t, replica, "before"); got != "v" {
		t.Errorf("before is %q", got)
	}
	c := redisserver.Dial(t, master)
	must(t, c, "SET", "after", "v")
	if n := must(t, c, "WAIT", 1, 10_000); n != int64(1) {
		t.Fatalf("WAIT answered %v", n)
	}
	if got := value(t, replica, "after"); got != "v" {
		t.Errorf("after is %q", got)
	}
	if _, err := redisserver.Dial(t, replica).Do("SET", "k", "v"); err == nil || !strings.HasPrefix(err.Error(), "READONLY") {
		t.Errorf("a replica takes writes: %v", err)
	}
	replica.Pause()
	must(t, c, "SET", "after", "w")
	if n := must(t, c, "WAIT", 1, 200); n != int64(0) {
		t.Errorf("WAIT answered %v", n)
	}
	replica.Resume()
	if n := must(t, c, "WAIT", 1, 10_000); n != int64(1) {
		t.Errorf("WAIT answered %v", n)
	}
}
