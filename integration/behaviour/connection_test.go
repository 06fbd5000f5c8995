package behaviour_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// names returns the names of the server's clients of one type, without the clients that have no name.
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
			// The subscription connection counts as normal once it has no channel.
			if got := slices.Compact(r.names("normal")); !slices.Equal(got, row.want) {
				t.Errorf("the connection after the first is %q", got)
			}
		})
	}
}

// rotating is a source of credentials whose password changes.
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

// The server can have a new password before the credentials function returns it, or the other way round.
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
	released := testbed.Begun(func() error { return h.Unlock(t.Context()) })
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

// The address leads to a replica that becomes the master while Open waits.
func TestOpenWaitsForAReplicaToBecomeTheMaster(t *testing.T) {
	_, replica := replicated(t)
	r := on(t, replica)
	opened := testbed.Begun(func() error {
		c, err := rlock.Open(t.Context(), replica.URL(), rlock.WithCommandTimeout(20*time.Second))
		if err != nil {
			return err
		}
		return c.Close()
	})
	r.Becomes("asked for its role", func() bool { return strings.Contains(r.Text("INFO", "commandstats"), "cmdstat_role") })
	r.Do("REPLICAOF", "NO", "ONE")
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

func TestDatabaseNumber(t *testing.T) {
	r, s := own(t)
	name := r.name()
	third, zeroth := r.Open("redis://"+s.Addr()+"/3"), r.open()
	h := r.Lock(third.NewLock(name))
	r.Unlock(r.Lock(zeroth.NewLock(name))) // another database, another lock
	if r.Number("EXISTS", name) != 0 {
		t.Error("the key is in database 0")
	}
	r.Do("SELECT", 3)
	if r.Text("HGET", name, h.Owner()) != "1" {
		t.Error("the key is not in database 3")
	}
	t.Run("wakes only its own waiters, though channels know no database", func(t *testing.T) {
		waiter := r.enter(r.Open("redis://" + s.Addr() + "/3").NewLock(name))
		r.Listeners(name, 1)
		r.Unlock(r.Lock(zeroth.NewLock(name)))
		r.outside(waiter)
		r.Unlock(h)
		r.Unlock(r.Entered(waiter).Hold)
	})
	t.Run("that is not there", func(t *testing.T) {
		_, err := rlock.Open(t.Context(), "redis://"+s.Addr()+"/99")
		wants(t, err, nil, "SELECT 99", "DB index is out of range")
		isServerError(t, err)
	})
}
