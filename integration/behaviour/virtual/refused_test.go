package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// place is a set of servers, and how clients reach them.
type place struct {
	url     string
	tried   []*simredis.Server // those whose account is tried: the data's, or the Sentinels
	data    []*simredis.Server
	master  func(key string) *simredis.Server
	cluster *simredis.Cluster
	replace func() // makes another server the master of what is named "failover"; nil: there is none
}

func sentinelPlace(r *rig, data bool) place {
	s := simredis.NewSet(r.world, 1, 3)
	p := place{s.URL(), s.Servers, s.Servers, func(string) *simredis.Server { return s.Master() }, nil, func() { s.Failover() }}
	if !data {
		p.tried = nil
		for _, x := range s.Sentinels {
			p.tried = append(p.tried, x.Server)
		}
	}
	return p
}

var places = map[string]func(r *rig) place{
	"one server": func(r *rig) place {
		s := simredis.New(r.world, address)
		all := []*simredis.Server{s}
		return place{"redis://" + address, all, all, func(string) *simredis.Server { return s }, nil, nil}
	},
	"behind Sentinels": func(r *rig) place { return sentinelPlace(r, true) },
	"at Sentinels":     func(r *rig) place { return sentinelPlace(r, false) },
	"replicated": func(r *rig) place {
		s := simredis.NewSet(r.world, 1, 0)
		all := s.Servers
		master := all[0]
		return place{"redis+replicated://" + all[0].Addr + "," + all[1].Addr, all, all, func(string) *simredis.Server { return master }, nil, func() {
			master = all[1]
			master.SlaveOf(nil)
			all[0].SlaveOf(master)
		}}
	},
	"a cluster": func(r *rig) place {
		c := simredis.NewCluster(r.world, 2, 1)
		return place{c.URL(), c.Servers, c.Servers, c.Master, c, func() {
			for _, s := range c.Servers {
				if s.Follows(c.Master("failover")) {
					operate(s, "CLUSTER", "FAILOVER")
				}
			}
		}}
	},
}

// operate runs an operator's command.
func operate(s *simredis.Server, args ...string) {
	forbids := s.Forbids
	s.Forbids = nil
	s.Session("10.9.0.1").Do(args...)
	s.Forbids = forbids
}

// drama is a play of all that two clients can do. The account of the servers is refused one command.
type drama struct {
	*rig
	place
	early, a, b *rlock.Client // early has come before the refusal, and has set up what the others use
	holds       map[string]*rlock.Hold
	named       bool // an act's error had the server's refusal
}

// act is a part of the play.
type act struct {
	name   string
	before func(d *drama) error // nothing is refused; nil: there is nothing to set up
	do     func(d *drama, ctx context.Context) error
}

// errLate is the error of a waiter that was not woken by a message.
var errLate = errors.New("late")

// errCount is the error of an acquire that failed and took permits.
var errCount = errors.New("permits are gone")

// errPlace is the error of an acquire that the place of a waiter that has given up keeps out.
var errPlace = errors.New("a place is left")

// number is what a master has of a number.
func (d *drama) number(key string) (n string) {
	d.at(func() { n, _ = d.master(key).Value(key) })
	return n
}

// passed tells how a waiter gets what another gives back between two looks of the waiter.
func passed(take, give func() error) error {
	const after = 1300 * time.Millisecond
	done, gave := make(chan error, 1), time.Now().Add(after)
	time.AfterFunc(after, func() { done <- give() })
	err := errors.Join(take(), <-done)
	if time.Since(gave) > 200*time.Millisecond {
		err = errors.Join(err, errLate)
	}
	return err
}

// contend has one client wait for a lock of the other.
func contend(name string, first, second func(c *rlock.Client, name string) *rlock.Lock) act {
	return act{name, nil, func(d *drama, ctx context.Context) error {
		h, err := first(d.a, name).TryLock(ctx, rlock.Lease(20*time.Second))
		if err != nil {
			return err
		}
		return passed(func() error { return second(d.b, name).Do(ctx, nothing, rlock.Wait(time.Minute)) }, func() error { return h.Unlock(ctx) })
	}}
}

func plain(c *rlock.Client, name string) *rlock.Lock  { return c.NewLock(name) }
func fair(c *rlock.Client, name string) *rlock.Lock   { return c.NewFairLock(name) }
func reads(c *rlock.Client, name string) *rlock.Lock  { return c.NewReadWriteLock(name).ReadLock() }
func writes(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).WriteLock() }

// lasting are holds since before the refusal, which are kept for longer than a lease.
var lasting = map[string]func(c *rlock.Client) *rlock.Lock{
	"held":               func(c *rlock.Client) *rlock.Lock { return c.NewLock("held") },
	"held fair":          func(c *rlock.Client) *rlock.Lock { return c.NewFairLock("held fair") },
	"held to read":       func(c *rlock.Client) *rlock.Lock { return reads(c, "held to read") },
	"held to write":      func(c *rlock.Client) *rlock.Lock { return writes(c, "held to write") },
	"held at least":      func(c *rlock.Client) *rlock.Lock { return c.NewLock("held at least") },
	"held fair at least": func(c *rlock.Client) *rlock.Lock { return c.NewFairLock("held fair at least") },
}

// keep has those holds kept, and tells which are believed in though others could have them.
func keep(d *drama, _ context.Context) (err error) {
	for range 31 {
		d.pass(time.Second)
		d.at(func() {
			for name, h := range d.holds {
				if m := d.master(name); h.Err() == nil && !m.Exists(name) {
					err = fmt.Errorf("%q is believed held", name)
				}
			}
		})
	}
	return err
}

// released releases one of those holds or, later, sees that others can have it.
func released(name string) act {
	return act{name, nil, func(d *drama, ctx context.Context) error {
		if h := d.holds[name]; h != nil {
			delete(d.holds, name)
			return h.Unlock(ctx)
		}
		return lasting[name](d.a).Do(ctx, nothing, rlock.Wait(time.Second))
	}}
}

var acts = []act{
	{"lock", nil, func(d *drama, ctx context.Context) error { return d.a.NewLock("lock").Do(ctx, nothing) }},
	{"owners", nil, func(d *drama, ctx context.Context) error {
		l := d.a.NewLock("owners")
		h, err := l.TryLock(ctx, rlock.Lease(20*time.Second))
		if err == nil {
			_, err = l.TryLock(ctx, rlock.As(h.Owner()), rlock.Lease(20*time.Second))
		}
		if err != nil {
			return err
		}
		return errors.Join(d.b.NewLock("owners").UnlockAs(ctx, h.Owner()), h.Unlock(ctx))
	}},
	{"extend", nil, func(d *drama, ctx context.Context) error {
		h, err := d.a.NewLock("extend").TryLock(ctx, rlock.Lease(10*time.Second))
		if err != nil {
			return err
		}
		return errors.Join(h.Extend(ctx, 20*time.Second), h.Unlock(ctx))
	}},
	{"at least", nil, func(d *drama, ctx context.Context) error {
		return d.a.NewLock("at least").Do(ctx, nothing, rlock.AtLeast(time.Second))
	}},
	contend("wait", plain, plain),
	contend("fair", fair, fair),
	contend("read", writes, reads),
	contend("write", reads, writes),
	contend("fenced", (*rlock.Client).NewFencedLock, (*rlock.Client).NewFencedLock),
	contend("non-reentrant", (*rlock.Client).NewNonReentrantLock, (*rlock.Client).NewNonReentrantLock),
	contend("spin", (*rlock.Client).NewSpinLock, (*rlock.Client).NewSpinLock),
	{"leave", nil, func(d *drama, ctx context.Context) error {
		h, err := d.a.NewFairLock("leave").TryLock(ctx, rlock.Lease(20*time.Second))
		if err != nil {
			return err
		}
		if err := d.b.NewFairLock("leave").Do(ctx, nothing, rlock.Wait(time.Second)); !errors.Is(err, rlock.ErrLocked) {
			return err
		}
		d.pass(time.Second)
		if err := h.Unlock(ctx); err != nil {
			return err
		}
		if h, err = d.a.NewFairLock("leave").TryLock(ctx, rlock.Lease(20*time.Second)); errors.Is(err, rlock.ErrLocked) {
			return errPlace
		} else if err != nil {
			return err
		}
		return h.Unlock(ctx)
	}},
	{"queue", nil, func(d *drama, ctx context.Context) error {
		h, err := d.a.NewFairLock("queue").TryLock(ctx, rlock.Lease(20*time.Second))
		if err != nil {
			return err
		}
		entered := make(chan error, 3)
		for i, c := range []*rlock.Client{d.b, d.early, d.a} {
			time.AfterFunc(time.Duration(i)*100*time.Millisecond, func() { entered <- c.NewFairLock("queue").Do(ctx, nothing, rlock.Wait(time.Minute)) })
		}
		d.pass(time.Second)
		return errors.Join(h.Unlock(ctx), <-entered, <-entered, <-entered)
	}},
	{"permits", func(d *drama) error { return d.early.NewPermitSemaphore("permits").SetPermits(context.Background(), 2) }, func(d *drama, ctx context.Context) error {
		p, err := d.a.NewPermitSemaphore("permits").TryAcquire(ctx, 2, rlock.Lease(20*time.Second))
		if err != nil {
			return err
		}
		return passed(func() error {
			p, err := d.b.NewPermitSemaphore("permits").TryAcquireFor(ctx, 1, 40*time.Second, rlock.Lease(20*time.Second))
			if err != nil {
				return err
			}
			return errors.Join(p.Extend(ctx, 20*time.Second), p.Release(ctx))
		}, func() error { return p.Release(ctx) })
	}},
	{"semaphore", func(d *drama) error {
		if _, err := d.early.NewSemaphore("semaphore").Delete(context.Background()); err != nil {
			return err
		}
		_, err := d.early.NewSemaphore("semaphore").TrySetPermits(context.Background(), 2)
		return err
	}, func(d *drama, ctx context.Context) error {
		before := d.number("semaphore")
		if err := d.a.NewSemaphore("semaphore").TryAcquire(ctx, 2); err != nil {
			if d.pass(2 * time.Second); d.number("semaphore") != before {
				err = errors.Join(err, errCount)
			}
			return err
		}
		return passed(func() error { return d.b.NewSemaphore("semaphore").TryAcquireFor(ctx, 1, 25*time.Second) }, func() error {
			return d.a.NewSemaphore("semaphore").Release(ctx, 2)
		})
	}},
	{"latch", func(d *drama) error {
		if _, err := d.early.NewCountDownLatch("latch").Delete(context.Background()); err != nil {
			return err
		}
		_, err := d.early.NewCountDownLatch("latch").TrySetCount(context.Background(), 1)
		return err
	}, func(d *drama, ctx context.Context) error {
		return passed(func() error { return d.b.NewCountDownLatch("latch").AwaitFor(ctx, 25*time.Second) }, func() error {
			return d.a.NewCountDownLatch("latch").CountDown(ctx)
		})
	}},
	{"numbers", nil, func(d *drama, ctx context.Context) error {
		s, l := d.a.NewSemaphore("numbers"), d.a.NewCountDownLatch("count")
		_, e1 := s.TrySetPermits(ctx, 3, rlock.Expire(time.Hour))
		e2 := s.AddPermits(ctx, 2)
		_, e3 := s.Drain(ctx)
		_, e4 := s.Delete(ctx)
		_, e5 := l.TrySetCount(ctx, 3)
		_, e6 := l.Delete(ctx)
		return errors.Join(e1, e2, e3, e4, e5, e6)
	}},
	{"permits' number", nil, func(d *drama, ctx context.Context) error {
		p := d.a.NewPermitSemaphore("more permits")
		_, e1 := p.TrySetPermits(ctx, 3)
		e2, e3 := p.SetPermits(ctx, 4), p.AddPermits(ctx, 2)
		_, e4 := p.Total(ctx)
		_, e5 := p.Delete(ctx)
		return errors.Join(e1, e2, e3, e4, e5)
	}},
	released("held at least"), released("held fair at least"),
	{"keep", nil, keep},
	released("held"), released("held fair"), released("held to read"), released("held to write"),
	{"loss", nil, func(d *drama, ctx context.Context) error {
		h, err := d.a.NewLock("loss").TryLock(ctx, rlock.Lease(30*time.Second))
		if err != nil {
			return err
		}
		d.pass(12 * time.Second)
		d.at(func() { operate(d.master("loss"), "DEL", "loss") })
		began := time.Now()
		if <-h.Done(); time.Since(began) > 100*time.Millisecond {
			return errLate
		}
		return nil
	}},
	{"questions", nil, func(d *drama, ctx context.Context) error {
		l := d.a.NewLock("questions")
		h, err := l.TryLock(ctx, rlock.Lease(20*time.Second))
		if err != nil {
			return err
		}
		_, e1 := l.IsLocked(ctx)
		_, e2 := l.HoldCount(ctx, h.Owner())
		_, e3 := l.IsHeldBy(ctx, h.Owner())
		_, e4 := l.RemainTTL(ctx)
		return errors.Join(e1, e2, e3, e4, h.Unlock(ctx))
	}},
	{"info", nil, func(d *drama, ctx context.Context) error {
		for _, l := range []*rlock.Lock{d.a.NewLock("info"), d.a.NewFairLock("info fair"), reads(d.a, "info read")} {
			if _, err := l.Info(ctx); err != nil && !errors.Is(err, rlock.ErrNotLocked) {
				return err
			}
		}
		return nil
	}},
	{"force", nil, func(d *drama, ctx context.Context) error {
		var all error
		for _, l := range []*rlock.Lock{d.a.NewLock("force"), d.a.NewFairLock("force fair"), reads(d.a, "force read")} {
			if _, err := l.TryLock(ctx, rlock.Lease(20*time.Second)); err != nil {
				return err
			}
			_, err := l.ForceUnlock(ctx)
			all = errors.Join(all, err)
		}
		return all
	}},
	{"broken", nil, func(d *drama, ctx context.Context) error {
		d.at(func() { d.breakAfter("broken") })
		return d.a.NewLock("broken").Do(ctx, nothing, rlock.Wait(time.Minute))
	}},
	{"half-moved", nil, func(d *drama, ctx context.Context) error {
		if d.cluster == nil {
			return nil
		}
		h, err := d.a.NewLock("half-moved").TryLock(ctx, rlock.Lease(20*time.Second))
		if err != nil {
			return err
		}
		var settle func()
		d.at(func() { settle = d.half("half-moved") })
		err = errors.Join(h.Unlock(ctx), d.b.NewLock("half-moved").Do(ctx, nothing, rlock.Wait(10*time.Second)))
		d.at(settle)
		return err
	}},
	{"failover", nil, func(d *drama, ctx context.Context) error {
		if d.replace == nil {
			return nil
		}
		h, err := d.a.NewLock("failover").TryLock(ctx)
		if err != nil {
			return err
		}
		d.pass(2 * time.Second)
		d.at(d.replace)
		d.pass(12 * time.Second)
		began := time.Now()
		err = errors.Join(h.Err(), h.Unlock(ctx))
		err = errors.Join(err, d.b.NewLock("failover").Do(ctx, nothing, rlock.Wait(time.Minute)))
		if time.Since(began) > time.Second {
			err = errors.Join(err, errLate)
		}
		return err
	}},
}

// half moves a name to another master, where its slot has not arrived. It returns what ends that.
func (d *drama) half(name string) (settle func()) {
	var from, to *simredis.Server
	for _, s := range d.cluster.Masters() {
		if s == d.master(name) {
			from = s
		} else {
			to = s
		}
	}
	slot := fmt.Sprint(codec.Slot(name))
	operate(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", fmt.Sprint(from.Command("MYID")))
	operate(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", fmt.Sprint(to.Command("MYID")))
	h, p, _ := strings.Cut(to.Addr, ":")
	move := func(key string) { operate(from, "MIGRATE", h, p, key, "0", "5000") }
	move(name)
	return func() {
		for _, key := range from.Keys() {
			if fmt.Sprint(codec.Slot(key)) == slot {
				move(key)
			}
		}
		for _, s := range []*simredis.Server{to, from} {
			operate(s, "CLUSTER", "SETSLOT", slot, "NODE", fmt.Sprint(to.Command("MYID")))
		}
	}
}

// breakAfter breaks the connections to a server after it has run the next script for a name.
func (d *drama) breakAfter(name string) {
	armed := true
	for _, s := range d.data {
		s.Ran = func(s *simredis.Server, _ string, args []string, _ any) {
			if armed && args[0] == "EVALSHA" && slices.Contains(args, name) {
				armed = false
				for _, c := range d.world.Conns(func(c *simnet.Conn) bool { return c.Server() == s.Addr }) {
					c.Reset()
				}
			}
		}
	}
}

// outcomes are what an act's error may be.
var outcomes = map[string]error{
	"refused": rlock.ErrRefused, "uncertain": rlock.ErrUncertain, "unannounced": rlock.ErrUnannounced, "unavailable": rlock.ErrUnavailable,
	"locked": rlock.ErrLocked, "no permits": rlock.ErrNoPermits, "not open": rlock.ErrNotOpen, "lost": rlock.ErrLeaseLost,
	"late": errLate, "permits gone": errCount, "place left": errPlace, "endless": context.DeadlineExceeded,
}

// unnamed are outcomes whose error can't have the server's refusal, so that a line must name it.
var unnamed = []string{"lost", "late", "place left"}

// outcome names what came of an act. The server's refusal must be in the error.
func (d *drama) outcome(refused string, err error) string {
	var all []string
	said := false
	for name, kind := range outcomes {
		if errors.Is(err, kind) {
			all = append(all, name)
			said = said || slices.Contains(unnamed, name)
		}
	}
	slices.Sort(all)
	named := names(refused, err.Error())
	d.named = d.named || named
	if len(all) == 0 || !said && !named {
		d.Errorf("%s: %v", refused, err)
	}
	return strings.Join(all, ", ")
}

// names tells whether a server's text has a refused command. The text of a script's refusal has none.
func names(refused, text string) bool {
	return strings.Contains(text, "'"+strings.ToLower(refused)+"' command") || strings.Contains(text, "can't run this command")
}

// said counts the lines from level info on in which a client says why it does without a command.
type said struct {
	mu      sync.Mutex // guards what follows
	refused string
	by      map[string]int // such lines of each client with "command refused"
	lines   int            // all of them
	cheap   bool           // such a line names no cost
}

func (s *said) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (s *said) WithGroup(string) slog.Handler                    { return s }
func (s *said) WithAttrs(attrs []slog.Attr) slog.Handler         { return of{s, attrs[0].Value.String()} }
func (s *said) Handle(_ context.Context, line slog.Record) error { return nil }

// of is the handler of one client.
type of struct {
	*said
	client string
}

func (s of) Handle(_ context.Context, line slog.Record) error {
	line.Attrs(func(a slog.Attr) bool {
		if names(s.refused, a.Value.String()) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.lines++; line.Message == "command refused" {
				s.by[s.client]++
				line.Attrs(func(a slog.Attr) bool {
					s.cheap = s.cheap || a.Key == "cost" && a.Value.String() == ""
					return true
				})
			}
			return false
		}
		return true
	})
	return nil
}

// played plays all acts where a command is refused. It returns what came of them, the commands that were sent, and what the clients
// that found the refusal logged; named, if an error has the refusal.
func played(t *testing.T, at func(r *rig) place, refused string) (came map[string]string, sent map[string]bool, log *said, named bool) {
	came, sent, log = map[string]string{}, map[string]bool{}, &said{refused: refused, by: map[string]int{}}
	synctest.Test(t, func(t *testing.T) {
		d := &drama{rig: &rig{T: t, world: simnet.New(1)}, holds: map[string]*rlock.Hold{}}
		d.at(func() { d.place = at(d.rig) })
		d.pass(5 * time.Second)
		open := func(i int) (*rlock.Client, error) {
			c, err := rlock.Open(context.Background(), d.url, rlock.WithDialer(d.world.Dialer(host(i))), rlock.WithLogger(slog.New(log)))
			if err == nil {
				t.Cleanup(func() {
					if began := time.Now(); c.Close() != nil || since(began) > time.Second {
						t.Errorf("Close took %v", since(began))
					}
				})
			}
			return c, err
		}
		d.early = must(open(3))(d.rig)
		d.setUp()
		for name, of := range lasting {
			var opts []rlock.AcquireOption
			if strings.HasSuffix(name, "at least") {
				opts = append(opts, rlock.AtLeast(time.Minute))
			}
			d.holds[name] = must(of(d.early).TryLock(context.Background(), opts...))(d.rig)
		}
		forbid := func(forbids func(command string, inScript bool) bool) {
			d.at(func() {
				for _, s := range d.tried {
					s.Forbids = forbids
				}
			})
		}
		forbid(func(command string, inScript bool) bool {
			// What scripts run is the same everywhere, but for the messages.
			if !inScript || len(d.data) == 1 || strings.HasSuffix(command, "PUBLISH") {
				sent[command] = true
			}
			return command == refused
		})
		var err error
		if d.a, err = open(1); err != nil {
			came["open"] = d.outcome(refused, err)
		} else {
			d.b = must(open(2))(d.rig)
			for _, a := range acts {
				if err := d.play(a); err != nil {
					came[a.name] = d.outcome(refused, err)
				}
			}
		}
		forbid(nil)
		named = d.named
		d.recover(open)
	})
	return came, sent, log, named
}

// setUp makes what the acts use.
func (d *drama) setUp() {
	for _, a := range acts {
		if a.before != nil {
			must(0, a.before(d))(d.rig)
		}
	}
}

func (d *drama) play(a act) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	return a.do(d, ctx)
}

// recover sees that all acts go well once nothing is refused any longer and all leases are over.
func (d *drama) recover(open func(client int) (*rlock.Client, error)) {
	if d.a == nil {
		d.a, d.b = must(open(1))(d.rig), must(open(2))(d.rig)
	}
	for name, h := range d.holds {
		must(0, h.Unlock(context.Background()))(d.rig)
		delete(d.holds, name)
	}
	d.pass(70 * time.Second)
	if n := must(d.early.NewPermitSemaphore("permits").Available(context.Background()))(d.rig); n != 2 {
		d.Errorf("%d permits of 2", n)
	}
	d.setUp()
	for _, a := range acts {
		if a.name == "loss" || a.name == "keep" { // changes are told again on later connections
			continue
		}
		if err := d.play(a); err != nil {
			d.Errorf("later, %s: %v", a.name, err)
		}
	}
}

// TestRefusalOfEachCommandCostsWhatItMust refuses each command that a play of all acts sends, everywhere, one at a time. An act
// fails as the table says, with an error of that kind that has the server's words. A refusal that no error has is logged, and
// "command refused" once, with what it costs. Nothing hangs, no lock is believed held that others can have, and once the command is allowed again, all is as
// it was: locks are free, and counts are exact.
func TestRefusalOfEachCommandCostsWhatItMust(t *testing.T) {
	var mu sync.Mutex // guards used
	used := map[string]bool{}
	row := func(command, where string) string {
		name := command + ", " + where
		if _, ok := costs[name]; !ok {
			name = command
		}
		mu.Lock()
		defer mu.Unlock()
		used[name] = true
		if _, ok := costs[name]; !ok {
			return "no row has it"
		}
		return costs[name]
	}
	t.Run("all", func(t *testing.T) {
		for where, at := range places {
			if testing.Short() && where != "one server" {
				continue
			}
			t.Run(where, func(t *testing.T) {
				t.Parallel()
				came, sent, _, _ := played(t, at, "")
				if len(came) > 0 {
					t.Fatalf("nothing is refused: %v", came)
				}
				for command := range sent {
					t.Run(command, func(t *testing.T) {
						came, _, log, named := played(t, at, command)
						want := row(command, where)
						if got := table(came, where, want); got != want {
							t.Errorf("it costs %q\nnot %q", got, want)
						}
						if !named && log.lines == 0 && silent[command] == "" {
							t.Errorf("no error and no line names %s", command)
						}
						if log.cheap {
							t.Errorf("a line names %s, and not what it costs", command)
						}
						for client, n := range log.by {
							if n != 1 {
								t.Errorf("client %s says it %d times", client, n)
							}
						}
					})
				}
			})
		}
	})
	for name := range silent {
		if _, ok := costs[name]; !ok {
			t.Errorf("no row has %s", name)
		}
	}
	for name := range costs {
		if !testing.Short() && !used[name] {
			t.Errorf("nothing sends %s", name)
		}
	}
}

// table writes what came of acts as the table has it. Acts that are not at a place have come to what the row says.
func table(came map[string]string, where, row string) string {
	for part := range strings.SplitSeq(row, "; ") {
		all, acts, _ := strings.Cut(part, ": ")
		for act := range strings.SplitSeq(acts, ", ") {
			if act == "failover" && where == "one server" || act == "half-moved" && where != "a cluster" {
				came[act] = all
			}
		}
	}
	by := map[string][]string{}
	for _, act := range slices.Sorted(maps.Keys(came)) {
		by[came[act]] = append(by[came[act]], act)
	}
	var parts []string
	for _, all := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, all+": "+strings.Join(by[all], ", "))
	}
	return strings.Join(parts, "; ")
}
