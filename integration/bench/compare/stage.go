package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/internal/program"
	"github.com/rlock-go/redisson/internal/redistest"
)

// stage is what one round has: a server, and a way to it for the one who holds and one for who wants to.
type stage struct {
	t      *program.Program
	p      *party
	fault  string
	server *redistest.Server
	ways   [2]*faultproxy.Proxy // the holder's and the rival's
	sent   atomic.Int64         // commands that were answered on both
	direct redis.Conn           // the rig's own
	jvms   *[2]*javaService     // who live from round to round; nil for Go

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
		s.jvms = &[2]*javaService{}
	}
	defer func() {
		if s.server == nil {
			s.end() // there is nobody else to do it
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

// end stops all that there is, of a nil stage nothing.
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

// begin makes the stage that of another round. What the last one did to the connections of a JVM ends here.
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

// ask is the rig's own command.
func (s *stage) ask(command string, args ...any) any {
	reply, err := s.direct.Do(command, args...)
	if err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
	return reply
}

// rigError is a panic of a round that could not be played.
type rigError struct{ error }

func fail(format string, args ...any) { panic(rigError{fmt.Errorf(format, args...)}) }

// client opens one behind a way. It has taken and released a lock before, so that scripts are known and connections are made.
func (s *stage) client(way int) service { return s.clientWith(way, opening{}) }

func (s *stage) clientWith(way int, o opening) service {
	o.addr = s.ways[way].Addr()
	if s.jvms != nil && o.pool == 0 {
		if s.jvms[way] == nil {
			j, err := openJava(o)
			if err != nil {
				fail("%w", err)
			}
			s.jvms[way] = j
		}
		s.warm(s.jvms[way])
		return s.jvms[way]
	}
	var c service
	var err error
	if s.jvms != nil {
		c, err = openJava(o)
	} else {
		c, err = s.p.open(o)
	}
	if err != nil {
		fail("%w", err)
	}
	s.t.Cleanup(c.close)
	s.warm(c)
	return c
}

// several opens two, as their libraries reach several servers.
func (s *stage) several(o opening) (clients [2]service) {
	for i := range clients {
		var err error
		if s.jvms != nil {
			clients[i], err = openJava(o)
		} else {
			clients[i], err = s.p.open(o)
		}
		if err != nil {
			fail("%w", err)
		}
		s.t.Cleanup(clients[i].close)
		s.warm(clients[i])
	}
	return clients
}

// process opens one in a process of its own.
func (s *stage) process(way int) process {
	if s.jvms != nil {
		return s.client(way).(process)
	}
	c, err := startChild(s.p, s.ways[way].Addr())
	if err != nil {
		fail("%w", err)
	}
	s.t.Cleanup(c.close)
	s.warm(c)
	return c
}

// killed ends a process, for good.
func (s *stage) killed(p process) {
	p.kill()
	if s.jvms != nil {
		for i, j := range s.jvms {
			if process(j) == p {
				s.jvms[i] = nil
			}
		}
	}
}

// warm has it take and release another lock. A JVM's first calls may take longer than its timeouts, so it is tried again.
func (s *stage) warm(c service) {
	var err error
	for range 10 {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		var h hold
		if h, err = c.lock(ctx, fmt.Sprintf("warm:%d", rounds.Add(1))); err == nil {
			err = h.unlock(ctx)
		}
		cancel()
		if err == nil {
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

// enter calls lock, and has the witness know of it.
func (s *stage) enter(ctx context.Context, c service, name string) entry {
	began := time.Now()
	h, err := c.lock(ctx, name)
	e := entry{hold: h, err: err, at: time.Now()}
	if e.took = e.at.Sub(began); err == nil {
		e.span = s.witness.enter(name)
	}
	return e
}

// waiter is enter beside the caller, which must call the function to have the entry. It fails the round if the wait is over
// before it began.
func (s *stage) waiter(c service, name string) (entered func(within time.Duration) (entry, bool)) {
	entered = s.begins(c, name)
	time.Sleep(250 * time.Millisecond) // it has been refused and waits, also in a JVM
	if e, in := entered(time.Millisecond); in || e.err != nil {
		fail("a waiter did not wait: %v", e.err)
	}
	return entered
}

// begins is waiter for one who need not wait yet.
func (s *stage) begins(c service, name string) (entered func(within time.Duration) (entry, bool)) {
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
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return e.hold.unlock(ctx)
}

// works has the holder of an entry work for a time beside the caller, who must call the function for what it did. The
// holder's stay ends with its last deed if it was told, and else goes on.
func (e entry) works(d time.Duration) (done func() deeds) {
	type outcome struct {
		did deeds
		err error
	}
	out := make(chan outcome, 1)
	go func() {
		did, err := work(e.hold, d)
		if err == nil {
			e.span.leaveAt(did.Last)
		}
		out <- outcome{did, err}
	}()
	return func() deeds {
		o := <-out
		if o.err != nil {
			fail("work: %w", o.err)
		}
		return o.did
	}
}

// matching is a rule for the next command on the round's key.
func (s *stage) matching(do faultproxy.Action, delay time.Duration) *faultproxy.Handle {
	return s.ways[holders].Add(faultproxy.Rule{Match: faultproxy.Key(s.key), Times: 1, Do: do, Delay: delay})
}

// free waits for the key to go.
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

// intact sees whether a rival that is inside still has the lock on the server: nobody else deleted or replaced its key.
func (s *stage) intact(value string) bool { return s.value() == value }

// value is what the server has at the key, so that it can be compared.
func (s *stage) value() string {
	text, err := redis.String(s.direct.Do("DUMP", s.key))
	if err != nil && !errors.Is(err, redis.ErrNil) {
		s.t.Fatalf("DUMP: %v", err)
	}
	return text
}
