package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/program"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// stage is the setting of a round: a server, and a proxy each for the holder and for its rival.
type stage struct {
	t      *program.Program
	p      *party
	fault  string
	server *redistest.Server
	ways   [2]*faultproxy.Proxy // the holder's and the rival's
	sent   atomic.Int64         // commands answered on both ways
	direct redis.Conn           // the rig's own connection
	jvms   *[2]*service         // they live from round to round; nil for Go

	name, key string
	*witness
	*result
}

const (
	holders = iota
	rivals
)

var rounds atomic.Int64

// newStage starts all but the clients.
func newStage(p *party) *stage {
	t := &program.Program{Title: "rlock-compare", Quiet: true}
	s := &stage{t: t, p: p}
	if p.name == javaP {
		s.jvms = &[2]*service{}
	}
	defer func() {
		if s.server == nil {
			s.end() // no caller could do it
		}
	}()
	s.server = redistest.Start(t)
	for i := range s.ways {
		s.ways[i] = faultproxy.Start(t, s.server.Addr())
		s.ways[i].Observe(func(e faultproxy.Exchange) {
			if e.Cmd != nil {
				s.sent.Add(1)
			}
		})
	}
	return s
}

// end stops everything. It does nothing for a nil stage.
func (s *stage) end() {
	if s == nil {
		return
	}
	if s.jvms != nil {
		for _, j := range s.jvms {
			if j != nil {
				j.close()
			}
		}
	}
	s.t.Finish()
}

// begin prepares the stage for another round. It ends what the last round did to a JVM's connections.
func (s *stage) begin(fault string) {
	s.fault, s.witness, s.result = fault, &witness{}, &result{}
	s.name = fmt.Sprintf("stock:%d", rounds.Add(1))
	s.key = s.p.key(s.name)
	for _, w := range s.ways {
		w.CutAll()
	}
	s.redial()
	s.ask("FLUSHALL")
}

func (s *stage) redial() {
	if s.direct != nil {
		s.direct.Close()
	}
	s.direct = s.server.Dial(s.t)
}

// ask sends the rig's own command.
func (s *stage) ask(command string, args ...any) any {
	reply, err := s.direct.Do(command, args...)
	if err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
	return reply
}

// rigError is the panic of a round that could not run.
type rigError struct{ error }

func fail(format string, args ...any) { panic(rigError{fmt.Errorf(format, args...)}) }

func check(err error) {
	if err != nil {
		fail("%w", err)
	}
}

// client opens a client behind a way and warms it up, so that scripts are loaded and connections are open.
func (s *stage) client(way int) *service {
	o := opening{addr: s.ways[way].Addr()}
	if s.jvms == nil {
		return s.open(o)
	}
	if s.jvms[way] == nil {
		j, err := s.p.open(o)
		check(err)
		s.jvms[way] = j
	}
	s.warm(s.jvms[way])
	return s.jvms[way]
}

// open opens a client that ends with the stage.
func (s *stage) open(o opening) *service { return s.ends(s.p.open(o)) }

// process opens a client in its own process.
func (s *stage) process(way int) *service {
	if s.jvms != nil {
		return s.client(way)
	}
	return s.ends(startChild(s.p, s.ways[way].Addr()))
}

// ends makes a client end with the stage, and warms it up.
func (s *stage) ends(c *service, err error) *service {
	check(err)
	s.t.Cleanup(c.close)
	s.warm(c)
	return c
}

// killed kills a client's process, which is not used again.
func (s *stage) killed(p *service) {
	p.kill()
	if s.jvms != nil {
		for i, j := range s.jvms {
			if j == p {
				s.jvms[i] = nil
			}
		}
	}
}

// warm makes a client take and release another lock. A JVM's first calls may exceed its timeouts, so warm retries.
func (s *stage) warm(c *service) {
	var err error
	for range 10 {
		if err = s.enterSoon(c, fmt.Sprintf("warm:%d", rounds.Add(1)), limit).leave(); err == nil {
			return
		}
	}
	fail("lock and unlock before the fault: %w", err)
}

// entry is a call of lock that has returned.
type entry struct {
	hold hold
	err  error
	took time.Duration
	at   time.Time
	*span
}

// enter calls lock, and records a grant with the witness.
func (s *stage) enter(ctx context.Context, c *service, name string) entry {
	began := time.Now()
	h, err := c.lock(ctx, name)
	e := entry{hold: h, err: err, at: time.Now()}
	if e.took = e.at.Sub(began); err == nil {
		e.span = s.witness.enter(name)
	}
	return e
}

// enterSoon is enter that gives up after a time.
func (s *stage) enterSoon(c *service, name string, within time.Duration) entry {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return s.enter(ctx, c, name)
}

// holding is enter for a lock that must be free.
func (s *stage) holding(c *service, name string) entry {
	e := s.enter(context.Background(), c, name)
	if e.err != nil {
		fail("lock: %w", e.err)
	}
	return e
}

// waiter starts enter in the background and returns a function that waits for its entry. The round fails if the wait
// ends before it began.
func (s *stage) waiter(c *service, name string) (entered func(within time.Duration) (entry, bool)) {
	entered = s.begins(c, name)
	time.Sleep(250 * time.Millisecond) // by then it was refused and waits, even in a JVM
	if e, in := entered(time.Millisecond); in || e.err != nil {
		fail("a waiter did not wait: %v", e.err)
	}
	return entered
}

// begins is waiter for a client that need not wait yet.
func (s *stage) begins(c *service, name string) (entered func(within time.Duration) (entry, bool)) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*limit)
	s.t.Cleanup(cancel)
	done := make(chan entry, 1)
	go func() { done <- s.enter(ctx, c, name) }()
	return func(within time.Duration) (entry, bool) {
		select {
		case e := <-done:
			done <- e
			return e, e.err == nil
		case <-time.After(within):
			return entry{}, false
		}
	}
}

// leave ends a stay: first for the witness, then by an unlock.
func (e entry) leave() error {
	if e.err != nil {
		return e.err
	}
	e.span.leave()
	return e.hold.unlockSoon()
}

func (h hold) unlockSoon() error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return h.unlock(ctx)
}

// left is leave for an unlock that must succeed.
func (e entry) left() {
	if err := e.leave(); err != nil {
		fail("unlock: %w", err)
	}
}

// works makes the holder of an entry work for a time in the background, and returns a function that waits for its
// deeds. The holder's stay ends with its last deed.
func (e entry) works(d time.Duration) (done func() deeds) {
	var did deeds
	out := make(chan error, 1)
	go func() {
		var err error
		if did, err = work(e.hold, d); err == nil {
			e.span.leaveAt(did.Last)
		}
		out <- err
	}()
	return func() deeds {
		check(<-out)
		return did
	}
}

// matching adds a rule for the next command on the round's key.
func (s *stage) matching(do faultproxy.Action, delay time.Duration) *faultproxy.Handle {
	return s.ways[holders].Add(faultproxy.Rule{Match: faultproxy.Key(s.key), Times: 1, Do: do, Delay: delay})
}

// free waits until the key is gone.
func (s *stage) free(within time.Duration) (after time.Duration, ok bool) {
	began := time.Now()
	for ; after < within; after = time.Since(began) {
		if s.ask("EXISTS", s.key) == int64(0) {
			return after, true
		}
		time.Sleep(time.Millisecond)
	}
	return 0, false
}

// leftLocked records how long the key stays after its last use.
func (s *stage) leftLocked() {
	after, ok := s.free(limit)
	s.after("left locked for", after, ok)
}

// intact reports whether a rival inside still has the lock on the server: no other client deleted or replaced its key.
func (s *stage) intact(value string) bool { return s.value() == value }

// value returns the key's content on the server, for comparison.
func (s *stage) value() string {
	text, err := redis.String(s.direct.Do("DUMP", s.key))
	if err != nil && !errors.Is(err, redis.ErrNil) {
		s.t.Fatalf("DUMP: %v", err)
	}
	return text
}
