package behaviour_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// connected counts the connections that the server ever accepted.
func (r *rig) connected() int {
	r.Helper()
	_, rest, _ := strings.Cut(r.Text("INFO", "stats"), "total_connections_received:")
	number, _, _ := strings.Cut(rest, "\r\n")
	return atoi(r, number)
}

func TestMalformedURLs(t *testing.T) {
	r, s := own(t)
	host := s.Addr()
	for behaviour, row := range map[string]struct{ url, says string }{
		"nothing":                   {"", "scheme"},
		"no scheme":                 {host, "scheme"},
		"another scheme":            {"http://" + host, "scheme"},
		"a scheme in capitals":      {"REDIS://" + host, "scheme"},
		"no host":                   {"redis://", "host"},
		"only a port":               {"redis://:6379", "host"},
		"an empty port":             {"redis://127.0.0.1:", "port"},
		"a port that is no number":  {"redis://127.0.0.1:redis", "port"},
		"port 0":                    {"redis://127.0.0.1:0", "port"},
		"a port beyond 65535":       {"redis://127.0.0.1:65536", "port"},
		"a database that is a name": {"redis://" + host + "/cache", "database"},
		"a negative database":       {"redis://" + host + "/-1", "database"},
		"a path behind it":          {"redis://" + host + "/1/2", "database"},
		"a query":                   {"redis://" + host + "?timeout=3s", "query"},
		"a fragment":                {"redis://" + host + "#1", "fragment"},
		"a user without a password": {"redis://worker@" + host, "password"},
		"a blank in the host":       {"redis://127.0.0 .1:6379", "host"},
		"half an IPv6 address":      {"redis://[::1:6379", "host"},
		"a control character":       {"redis://" + host + "\n", "malformed"},
		"several hosts":             {"redis://" + host + "," + host, "several hosts"},
		"Sentinels without a name":  {"redis+sentinel://" + host, "master's name"},
		"a cluster's database":      {"redis+cluster://" + host + "/1", "one database"},
	} {
		t.Run(behaviour, func(t *testing.T) {
			before := r.connected()
			c, err := rlock.Open(t.Context(), row.url)
			if err == nil {
				c.Close()
			}
			wants(t, err, rlock.ErrInvalidOption, row.says)
			if err != nil && row.url != "" && strings.Contains(err.Error(), row.url) {
				t.Errorf("the error prints the URL: %v", err)
			}
			if r.connected() != before {
				t.Error("it connected")
			}
		})
	}
}

func TestPasswordsThatAreNotEscaped(t *testing.T) {
	t.Parallel()
	const head, tail = "topsecret", "verysecret"
	var users []redisserver.User
	for i, between := range []string{":", "@"} {
		users = append(users, redisserver.User{Name: fmt.Sprint("worker", i), Password: head + between + tail, Rules: []string{"~*", "&*", "+@all"}})
	}
	s := redisserver.ACL(t, users...)
	open := func(t *testing.T, user, password, rest string) error {
		c, err := rlock.Open(t.Context(), "redis://"+user+":"+password+"@"+rest, rlock.WithCommandTimeout(2*time.Second))
		if err == nil {
			c.Close()
			return nil
		}
		for _, secret := range []string{head, tail} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error prints the password: %v", err)
			}
		}
		return err
	}
	for _, user := range users {
		t.Run("may contain "+user.Password[len(head):len(head)+1], func(t *testing.T) {
			if err := open(t, user.Name, user.Password, s.Addr()); err != nil {
				t.Error(err)
			}
		})
	}
	for _, between := range []string{"/", "#", "%", "?", "%zz", " ", "\n", "/1", "[", "\\"} {
		t.Run("must not contain "+between, func(t *testing.T) {
			wants(t, open(t, "worker0", head+between+tail, s.Addr()), rlock.ErrInvalidOption, "url")
		})
	}
	t.Run("that begin with what looks like a port", func(t *testing.T) {
		for _, password := range []string{"6379/" + tail, "1?" + tail, "1#" + tail} {
			wants(t, open(t, "worker0", password, s.Addr()), rlock.ErrInvalidOption, "url")
		}
	})
	t.Run("are not printed when the host is wrong", func(t *testing.T) {
		wants(t, open(t, "worker0", head, "127.0.0.1:port"), rlock.ErrInvalidOption, "port")
		wants(t, open(t, "worker0", head, "127.0.0.1:1"), nil, "connect")
		wants(t, open(t, "worker0", head, "nowhere.invalid:1"), nil, "connect")
	})
	t.Run("are not printed when they are wrong", func(t *testing.T) {
		err := open(t, "worker0", head, s.Addr())
		wants(t, err, nil, "AUTH", "WRONGPASS", s.Addr())
	})
	t.Run("are not printed for other topologies", func(t *testing.T) {
		for scheme, want := range map[string]error{
			"redis+sentinel": nil, // it asks, and this server is no Sentinel
			"redis+cluster":  rlock.ErrInvalidOption,
			"http":           rlock.ErrInvalidOption,
		} {
			_, err := rlock.Open(t.Context(), scheme+"://worker0:"+head+"@"+s.Addr()+"/x")
			wants(t, err, want)
			if err == nil || strings.Contains(err.Error(), head) {
				t.Errorf("%s: %v", scheme, err)
			}
		}
	})
}
