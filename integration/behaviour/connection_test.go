package behaviour_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// names are what the server's clients of a type are called, those without a name left out.
func (r *rig) names(sort string) (names []string) {
	r.Helper()
	for line := range strings.Lines(r.Text("CLIENT", "LIST", "TYPE", sort)) {
		_, rest, _ := strings.Cut(line, " name=")
		if name, _, _ := strings.Cut(rest, " "); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func TestConnectionsHaveAName(t *testing.T) {
	for behaviour, row := range map[string]struct {
		want []string
		opts []rlock.Option
	}{
		"the default": {[]string{"rlock"}, nil},
		"one's own":   {[]string{"billing-7"}, []rlock.Option{rlock.WithConnectionName("billing-7")}},
		"every sign":  {[]string{`!~{}"'`}, []rlock.Option{rlock.WithConnectionName(`!~{}"'`)}},
		"none":        {nil, []rlock.Option{rlock.WithConnectionName("")}},
	} {
		t.Run(behaviour, func(t *testing.T) {
			r, _ := own(t)
			l := r.open(row.opts...).NewLock(r.name())
			h := r.Lock(l)
			waiter := r.enter(l)
			r.Listeners(l.Name(), 1)
			for _, sort := range []string{"normal", "pubsub"} {
				if got := r.names(sort); !slices.Equal(got, row.want) {
					t.Errorf("the %s connections are %q", sort, got)
				}
			}
			r.Do("CLIENT", "KILL", "TYPE", "normal")
			r.Unlock(h)
			r.Unlock(r.Entered(waiter).Hold)
			if got := r.names("normal"); !slices.Equal(got, row.want) {
				t.Errorf("the connection after the first is %q", got)
			}
		})
	}
}

func TestConnectionNamesThatCannotBe(t *testing.T) {
	r, s := own(t)
	for _, name := range []string{"two words", "line\nbreak", "ümlaut", "\x00"} {
		_, err := rlock.Open(t.Context(), s.URL(), rlock.WithConnectionName(name))
		wants(t, err, rlock.ErrInvalidOption, "WithConnectionName")
	}
	_, err := rlock.New(r.pool(3, false), rlock.WithConnectionName("app"))
	wants(t, err, rlock.ErrInvalidOption, "WithConnectionName")
}

// rotating gives the password of the moment.
type rotating struct {
	password atomic.Pointer[string]
	asked    atomic.Int64
}

func (c *rotating) credentials(context.Context) (user, password string, err error) {
	c.asked.Add(1)
	return "worker", *c.password.Load(), nil
}

func (c *rotating) set(r *rig, password string) {
	r.Do("ACL", "SETUSER", "worker", "reset", "on", ">"+password, "+@all", "~*", "&*")
	c.password.Store(&password)
}

func TestCredentialsAreAskedAtEachConnect(t *testing.T) {
	r, s := own(t)
	var c rotating
	c.set(r, "one")
	client := r.Open(s.URL(), rlock.WithCredentials(c.credentials))
	if n := c.asked.Load(); n != 1 {
		t.Errorf("asked %d times for the first connection", n)
	}
	l := client.NewLock(r.name())
	h := r.Lock(l)
	waiter := r.enter(l)
	r.Listeners(l.Name(), 1)
	// The password changes, and the server ends the connections that used the old one.
	c.set(r, "two")
	r.Do("CLIENT", "KILL", "USER", "worker")
	r.Unlock(h)
	r.Unlock(r.Entered(waiter).Hold)
	if n := c.asked.Load(); n < 3 {
		t.Errorf("asked %d times, before the connections were killed and after", n)
	}
}

// The server knows the new password before the function does, or the other way round.
func TestCredentialsThatAreRefusedAreAskedForAgain(t *testing.T) {
	r, s := own(t)
	var c rotating
	c.set(r, "one")
	l := r.Open(s.URL(), rlock.WithCredentials(c.credentials)).NewLock(r.name())
	h := r.Lock(l)
	old := "one"
	c.set(r, "two")
	c.password.Store(&old)
	r.Do("CLIENT", "KILL", "USER", "worker")
	before := c.asked.Load()
	released := make(chan error, 1)
	go func() { released <- h.Unlock(t.Context()) }()
	r.Becomes("asked again", func() bool { return c.asked.Load() >= before+3 })
	now := "two"
	c.password.Store(&now)
	if err := <-released; err != nil {
		t.Error(err)
	}
}

func TestCredentialsThatStayWrongAreToldAsSuch(t *testing.T) {
	t.Parallel()
	r, s := own(t)
	r.Do("ACL", "SETUSER", "worker", "reset", "on", ">right", "+@all", "~*", "&*")
	refused := errors.New("the vault is sealed")
	for behaviour, row := range map[string]struct {
		err  error
		says string
	}{
		"wrong":         {nil, "WRONGPASS"},
		"not to be had": {refused, refused.Error()},
	} {
		t.Run(behaviour, func(t *testing.T) {
			_, err := rlock.Open(t.Context(), s.URL(), rlock.WithCommandTimeout(3*time.Second),
				rlock.WithCredentials(func(context.Context) (string, string, error) { return "worker", "sesame-4711", row.err }))
			if err == nil || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), "sesame") {
				t.Errorf("got %v", err)
			}
			if row.err != nil && !errors.Is(err, row.err) {
				t.Errorf("the function's error is not in it: %v", err)
			}
		})
	}
}

func TestCredentialsThatCannotBe(t *testing.T) {
	r, s := own(t)
	f := func(context.Context) (string, string, error) { return "", "", nil }
	_, err := rlock.Open(t.Context(), s.URL(), rlock.WithCredentials(nil))
	wants(t, err, rlock.ErrInvalidOption, "WithCredentials")
	_, err = rlock.Open(t.Context(), "redis://:secret@"+s.Addr(), rlock.WithCredentials(f))
	wants(t, err, rlock.ErrInvalidOption, "WithCredentials")
	_, err = rlock.New(r.pool(3, false), rlock.WithCredentials(f))
	wants(t, err, rlock.ErrInvalidOption, "WithCredentials")
	// An empty password sends no AUTH.
	r.handOver(r.Open(s.URL(), rlock.WithCredentials(f)), r.open())
}

func TestServersThatAreNotSingleAreRefused(t *testing.T) {
	for url, s := range map[string]*redisserver.LocalServer{
		"redis+sentinel://": redisserver.Sentinel(t),
		"redis+cluster://":  redisserver.Local(t, "--cluster-enabled", "yes"),
	} {
		t.Run(url, func(t *testing.T) {
			_, err := rlock.Open(t.Context(), s.URL())
			wants(t, err, rlock.ErrInvalidOption, url)
			r := on(t, s)
			l := r.borrower(r.pool(3, false)).NewLock("any")
			for name, call := range map[string]func() error{
				"TryLock":  func() error { _, err := l.TryLock(t.Context()); return err },
				"IsLocked": func() error { _, err := l.IsLocked(t.Context()); return err },
			} {
				if err := call(); err == nil || !strings.Contains(err.Error(), url) {
					t.Errorf("%s on a pool: %v", name, err)
				}
			}
		})
	}
}

func TestReplicaIsToldAsThat(t *testing.T) {
	t.Parallel()
	_, replica := replicated(t)
	_, err := rlock.Open(t.Context(), replica.URL(), rlock.WithCommandTimeout(3*time.Second))
	if err == nil || !strings.Contains(err.Error(), "read-only: ROLE says slave of 127.0.0.1:") {
		t.Errorf("got %v", err)
	}
}

// The address leads to a replica that is about to become the master.
func TestOpenWaitsForAReplicaToBecomeTheMaster(t *testing.T) {
	_, replica := replicated(t)
	r := on(t, replica)
	opened := make(chan error, 1)
	go func() {
		c, err := rlock.Open(t.Context(), replica.URL(), rlock.WithCommandTimeout(20*time.Second))
		if err == nil {
			err = c.Close()
		}
		opened <- err
	}()
	r.Becomes("asked for its role", func() bool { return strings.Contains(r.Text("INFO", "commandstats"), "cmdstat_role") })
	r.Do("REPLICAOF", "NO", "ONE")
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

// A server becomes the replica of another one, to which its address leads from then on. What Open's connections do is in
// the table of faults.
func TestPoolFollowsItsAddressToAnotherMaster(t *testing.T) {
	r, next := replicated(t)
	former := r.Server
	var at atomic.Pointer[string]
	url := former.URL()
	at.Store(&url)
	c := r.borrower(r.poolAt(func() string { return *at.Load() }))
	l := c.NewLock(r.name())
	h := r.Lock(l)
	waiter := r.enter(l)
	r.Listeners(l.Name(), 1)
	r.Do("WAIT", 1, 0)
	to := on(t, next)
	to.Do("REPLICAOF", "NO", "ONE")
	host, port, _ := strings.Cut(next.Addr(), ":")
	r.Do("REPLICAOF", host, port)
	there := next.URL()
	at.Store(&there)
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatalf("the new master has the hold: %v", err)
	}
	r.Unlock(r.Entered(waiter).Hold)
	if n := fmt.Sprint(to.Do("EXISTS", l.Name())); n != "0" {
		t.Errorf("the new master still has the lock: %s", n)
	}
}
