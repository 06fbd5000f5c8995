package rlock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// aChange is a method that changes an object without an owner. The object has this name, too, and 5
// as its number.
type aChange struct {
	name string
	due  bool // it goes on when its caller has left
	call func(ctx context.Context, c *Client, name string) error
	left string // the number after one run
}

const onePermit = "00112233445566778899aabbccddeeff"

var changes = []aChange{
	{"Release", true, func(ctx context.Context, c *Client, name string) error { return c.NewSemaphore(name).Release(ctx, 2) }, "7"},
	{"ReleaseIfExists", true, func(ctx context.Context, c *Client, name string) error {
		_, err := c.NewSemaphore(name).ReleaseIfExists(ctx, 2)
		return err
	}, "7"},
	{"CountDown", true, func(ctx context.Context, c *Client, name string) error {
		return c.NewCountDownLatch(name).CountDown(ctx)
	}, "4"},
	{"ReleaseIDs", true, func(ctx context.Context, c *Client, name string) error {
		return c.NewPermitSemaphore(name).ReleaseIDs(ctx, onePermit)
	}, "6"},
	{"Semaphore.AddPermits", false, func(ctx context.Context, c *Client, name string) error {
		return c.NewSemaphore(name).AddPermits(ctx, -1)
	}, "4"},
	{"Semaphore.TrySetPermits", false, func(ctx context.Context, c *Client, name string) error {
		_, err := c.NewSemaphore(name).TrySetPermits(ctx, 9)
		return err
	}, "5"},
	{"Drain", false, func(ctx context.Context, c *Client, name string) error {
		_, err := c.NewSemaphore(name).Drain(ctx)
		return err
	}, "0"},
	{"Semaphore.Delete", false, func(ctx context.Context, c *Client, name string) error {
		_, err := c.NewSemaphore(name).Delete(ctx)
		return err
	}, ""},
	{"TrySetCount", false, func(ctx context.Context, c *Client, name string) error {
		_, err := c.NewCountDownLatch(name).TrySetCount(ctx, 9)
		return err
	}, "5"},
	{"CountDownLatch.Delete", false, func(ctx context.Context, c *Client, name string) error {
		_, err := c.NewCountDownLatch(name).Delete(ctx)
		return err
	}, ""},
	{"SetPermits", false, func(ctx context.Context, c *Client, name string) error {
		return c.NewPermitSemaphore(name).SetPermits(ctx, 9)
	}, "8"},
	{"AddPermits", false, func(ctx context.Context, c *Client, name string) error {
		return c.NewPermitSemaphore(name).AddPermits(ctx, 2)
	}, "7"},
	{"TrySetPermits", false, func(ctx context.Context, c *Client, name string) error {
		_, err := c.NewPermitSemaphore(name).TrySetPermits(ctx, 9)
		return err
	}, "5"},
	{"SetLease", false, func(ctx context.Context, c *Client, name string) error {
		return c.NewPermitSemaphore(name).SetLease(ctx, onePermit, time.Hour)
	}, "5"},
}

// dues is how many of the changes are due.
const dues = 4

const (
	changeTimeout = 2 * time.Second               // the command timeout of these tests
	changeBound   = 4*changeTimeout + time.Second // the longest time that a change blocks
)

// changeRig is a server that keeps its data when it is killed, and a client for each change: no
// change waits behind another.
type changeRig struct {
	*testing.T
	server  *redistest.Server
	clients map[string]*Client // by the name of the change
}

func newChangeRig(t *testing.T) *changeRig {
	t.Helper()
	s := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	r := &changeRig{t, s, map[string]*Client{}}
	r.refill()
	for _, m := range changes {
		c, err := Open(t.Context(), s.URL(), WithCommandTimeout(changeTimeout))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		r.clients[m.name] = c
		if err := m.call(t.Context(), c, m.name); err != nil { // loads the script
			t.Fatal(err)
		}
	}
	r.refill()
	r.are(func(aChange) string { return "5" }) // and no receipt is left: the server would keep it
	return r
}

// refill creates all objects anew.
func (r *changeRig) refill() {
	r.Helper()
	conn := r.server.Dial(r)
	raw, err := rawID(onePermit)
	if err != nil {
		r.Fatal(err)
	}
	for _, m := range changes {
		_, err := conn.Do("SET", m.name, 5)
		_, err2 := conn.Do("ZADD", "{"+m.name+"}:timeout", int64(922337203685477), raw)
		if err := errors.Join(err, err2); err != nil {
			r.Fatal(err)
		}
	}
}

// dies kills the server, and returns when all clients have noticed and send nothing any more.
func (r *changeRig) dies() {
	r.Helper()
	r.server.Kill()
	var wg sync.WaitGroup
	for _, c := range r.clients {
		wg.Go(func() {
			if _, err := c.NewSemaphore("some").Available(r.Context()); !errors.Is(err, ErrUnavailable) {
				r.Errorf("a dead server answers: %v", err)
			}
		})
	}
	wg.Wait()
}

// each calls all changes at the same time, and checks how each ends.
func (r *changeRig) each(ctx context.Context, check func(aChange, error) bool) {
	r.Helper()
	type end struct {
		m   aChange
		err error
	}
	ends, open := make(chan end, len(changes)), map[string]bool{}
	for _, m := range changes {
		open[m.name] = true
		go func() { ends <- end{m, m.call(ctx, r.clients[m.name], m.name)} }()
	}
	never := time.After(changeBound + 10*soon)
	for range changes {
		select {
		case e := <-ends:
			delete(open, e.m.name)
			if !check(e.m, e.err) {
				r.Errorf("%s: %v", e.m.name, e.err)
			}
		case <-never:
			r.Fatalf("without an end: %v", open)
		}
	}
}

const anything = "?"

// are waits until each object has the wanted value, and no receipt is left.
func (r *changeRig) are(want func(aChange) string) {
	r.Helper()
	conn := r.server.Dial(r)
	for _, m := range changes {
		what := fmt.Sprintf("%s: it has %q", m.name, want(m))
		becomes(r.T, what, func() bool {
			got, err := redis.String(conn.Do("GET", m.name))
			receipts, err2 := redis.Strings(conn.Do("KEYS", "redisson_unlock_latch:{"+m.name+"}*"))
			return (err == nil || err == redis.ErrNil) && err2 == nil && (got == want(m) || want(m) == anything) && len(receipts) == 0
		})
	}
}

// A change that gets no reply ends within its bound. If it is sent again, it counts once.
func TestChangesEndInTheirBound(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "some timeouts pass")
	var beside redistest.Parts
	defer beside.Wait()
	beside.Run(t, "silence", func(t *testing.T) {
		r := newChangeRig(t)
		r.server.Pause()
		r.each(t.Context(), func(_ aChange, err error) bool { return errors.Is(err, ErrUncertain) })
		r.server.Resume()
		r.are(func(m aChange) string { return m.left })
	})
	beside.Run(t, "silence, and its context ends", func(t *testing.T) {
		r := newChangeRig(t)
		r.server.Pause()
		ctx, cancel := context.WithTimeout(t.Context(), changeTimeout/2)
		defer cancel()
		r.each(ctx, func(_ aChange, err error) bool {
			return errors.Is(err, ErrUncertain) && errors.Is(err, context.DeadlineExceeded)
		})
		r.server.Resume()
		r.are(func(m aChange) string { return m.left })
	})
	beside.Run(t, "death", func(t *testing.T) {
		r := newChangeRig(t)
		r.server.Pause()
		dies := time.AfterFunc(changeTimeout/4, r.server.Kill)
		defer dies.Stop()
		r.each(t.Context(), func(_ aChange, err error) bool { return errors.Is(err, ErrUncertain) })
		r.server.Restart()
		r.are(func(m aChange) string {
			if m.due {
				return m.left
			}
			return anything // it may just have been sent again
		})
	})
}

// A release is repeated in the background until a server runs it, and counts once.
func TestReleasesGoOnInTheBackground(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "some timeouts pass")
	unavailable := func(err error) bool { return errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrUncertain) }
	goesOn := func(err error) bool { return strings.Contains(err.Error(), "goes on in the background") }
	done := func(m aChange) string {
		if m.due {
			return m.left
		}
		return "5"
	}
	var beside redistest.Parts
	defer beside.Wait()
	beside.Run(t, "a long outage", func(t *testing.T) {
		r := newChangeRig(t)
		r.dies()
		r.each(t.Context(), func(m aChange, err error) bool { return unavailable(err) && goesOn(err) == m.due })
		r.server.Restart()
		r.are(done)
	})
	beside.Run(t, "callers that leave", func(t *testing.T) {
		r := newChangeRig(t)
		r.dies()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r.each(ctx, func(m aChange, err error) bool {
			return m.due && unavailable(err) && goesOn(err) || !m.due && errors.Is(err, context.Canceled) && !errors.Is(err, ErrUncertain)
		})
		r.server.Restart()
		r.are(done)
	})
	// It is no error of a release. It ends when the other changes have been given up.
	beside.Run(t, "an outage shorter than the bound", func(t *testing.T) {
		r := newChangeRig(t)
		r.dies()
		givenUp := 0
		r.each(t.Context(), func(m aChange, err error) bool {
			if m.due {
				return err == nil || unavailable(err) && goesOn(err) // if the machine was so slow that the bound passed
			}
			if givenUp++; givenUp == len(changes)-dues {
				r.server.Restart()
			}
			return unavailable(err)
		})
		r.are(done)
	})
}

// Do gives back its permits only if the semaphore still exists.
func TestDoBringsNoSemaphoreBack(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	sem := rooms(t, open(t, s), 3)
	if err := sem.Do(t.Context(), 2, func(context.Context) error { _, err := conn.Do("DEL", "rooms"); return err }); err != nil {
		t.Error(err)
	}
	if n, err := conn.Do("EXISTS", "rooms"); n != int64(0) || err != nil {
		t.Errorf("it is back: %v, %v", n, err)
	}
}
