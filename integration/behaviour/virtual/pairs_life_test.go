package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

const lease = 31 * time.Second // a lease, and some time for what follows its end

// life is one acquire, from before its first send until nothing is left of it.
type life struct {
	*rig
	acquiring
	c, others *rlock.Client
	owner     rlock.Owner // that it acts as; zero: none
	outer     *rlock.Hold // of the same owner
	unlocks   bool        // that hold, meanwhile
	unlocked  chan error  // gets the outcome
	beside    *rlock.Hold // of another client
	cancel    func()

	err   error // the call's
	hold  *rlock.Hold
	over  func() error // Err of what it got
	leave func(ctx context.Context) error

	next   []disturbance
	struck []disturbance
	ran    func(l *life)   // of what has struck, until its send has run
	newest int64           // fencing token
	sends  int             // of the acquire
	loaded map[string]bool // scripts, by their sums
	before simredis.Saved  // the latest send
}

func (l *life) lock(c *rlock.Client) *rlock.Lock { return kinds[l.kind].lock(c) }

func (l *life) got(h *rlock.Hold, err error) {
	if l.err = err; err == nil {
		l.hold, l.over, l.leave = h, h.Err, h.Unlock
		l.token(h)
	}
}

// cuts ends the client's connections.
func (l *life) cuts() {
	for _, conn := range l.world.Conns(func(conn *simnet.Conn) bool { return conn.Host() == host(1) }) {
		conn.Reset()
	}
}

// holdsBack lets nothing pass between the client and the server for a time.
func (l *life) holdsBack(d time.Duration) {
	l.world.Block(host(1), address, true)
	l.world.After(d, func() { l.world.Block(host(1), address, false) })
}

// restarts loses the reply and ends the server's process. It starts again with other data.
func (l *life) restarts(with simredis.Saved) {
	l.cuts()
	l.world.After(0, func() {
		l.server.Kill(false)
		l.server.StartWith(with)
		clear(l.loaded)
	})
}

// sums are those of all scripts, by their texts, except of those that renew.
var sums = func() map[string]string {
	all := map[string]string{}
	for _, s := range luasrc.Scripts() {
		if !strings.Contains(s.Name, "renew") {
			all[s.Source] = s.SHA1
		}
	}
	return all
}()

// sent tells whether a command belongs to the acquire: it is the acquire, its repetition, its undo, or a question about them.
func (l *life) sent(args []string) bool {
	switch args[0] {
	case "SCRIPT":
		l.loaded[sums[args[2]]] = true
	case "EVALSHA":
		return l.loaded[args[1]] && !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, l.others.ID().String()) })
	case "HGET", "EXISTS", "PTTL":
		return true
	}
	return false
}

// strikes is the server's hook before a command runs.
func (l *life) strikes(args []string) (no string) {
	more := l.sent(args)
	if more {
		l.sends++
	}
	for more && len(l.next) > 0 && no == "" {
		d := l.next[0]
		l.next, l.struck = l.next[1:], append(l.struck, d)
		if more = d.owners; d.ran != nil {
			l.ran = d.ran
		}
		if d.hits != nil {
			no = d.hits(l, args)
		}
	}
	return no
}

// hit tells whether a disturbance has struck. While any may, it is called with the world's lock held.
func (l *life) hit(name string) bool {
	return slices.ContainsFunc(l.struck, func(d disturbance) bool { return d.name == name })
}

var pttl = regexp.MustCompile(` pttl -?\d+$`)

// state is what the server has of the lock, without times.
func (l *life) state() (s string) {
	l.pass(100 * time.Millisecond)
	l.at(func() {
		for _, key := range l.server.Keys() {
			if !strings.HasPrefix(key, "redisson_lock_token:") {
				s += key + ": " + pttl.ReplaceAllString(l.server.Dump(key), "") + "\n"
			}
		}
	})
	return s
}

// try lets another client in, if what was acquired is free.
func (l *life) try() (err error) {
	ctx, kind := context.Background(), l.kind
	switch l.name {
	case "permit":
		return l.others.NewPermitSemaphore("orders").Do(ctx, 1, nothing, rlock.Wait(0))
	case "semaphore":
		return l.others.NewSemaphore("orders").Do(ctx, 1, nothing, rlock.Wait(0))
	}
	if kind == "read" {
		kind = "write" // another reader would get in
	}
	return kinds[kind].lock(l.others).DoHold(ctx, func(_ context.Context, h *rlock.Hold) error {
		l.token(h)
		return nil
	}, rlock.Wait(0))
}

// token checks that a grant has a newer fencing token than all before.
func (l *life) token(h *rlock.Hold) {
	if l.kind != "fenced" {
		return
	}
	now := h.Token()
	l.at(func() {
		if now > l.newest || l.hit(allLost) {
			l.newest = now
		} else {
			l.Errorf("the token %d follows %d", now, l.newest)
		}
	})
}

// held checks that the server counts what the call returned and the hold around it, and that nobody else gets in.
func (l *life) held(when string) {
	l.Helper()
	if err := l.over(); err != nil {
		l.Errorf("%s its hold is over: %v", when, err)
	}
	if l.hold != nil {
		want := 1
		if l.kind == l.outerKind && !l.unlocks && l.outer.Err() == nil {
			want = 2
		}
		if n := l.count(l.hold.Owner().LogValue().String(), kinds[l.kind].field); n != fmt.Sprint(want) {
			l.Errorf("%s the server counts %q, not %d", when, n, want)
		}
	}
	if err := l.try(); !errors.Is(err, rlock.ErrLocked) && !errors.Is(err, rlock.ErrNoPermits) {
		l.Errorf("%s another client is told %v", when, err)
	}
}

// stays is how long something that the acquire took may stay on the server although nobody has it; below 0: for ever.
func (l *life) stays() time.Duration {
	undoFails := len(l.struck) == 2 && (l.hit(closed) || l.struck[1].name == forGood) // it is not sent again
	switch {
	case l.err == nil && !l.hit(closed):
		return 0
	case undoFails && l.wait > 0: // a place in the queue
		return 10 * time.Minute
	case undoFails && (l.name == "semaphore" || l.hit(inPart)): // it never expires
		return -1
	case undoFails || l.hit(closed) || l.outer != nil && (l.hit(late) || l.hit(inPart) || l.hit(textLeaves)):
		return lease
	}
	return 0
}

// judge compares what the call returned, and what becomes of it, with the guarantees.
func (l *life) judge(base string, took time.Duration) {
	most, explained, granted, sends := l.wait+100*time.Millisecond, false, false, 0
	background := 20 * time.Second // for what goes on there
	l.at(func() {
		explained, granted = l.err == nil && !l.hit(givesUp), l.err == nil && !l.hit(closed)
		for _, d := range l.struck {
			most += d.slow
			explained = explained || slices.ContainsFunc(d.errs, func(e error) bool { return errors.Is(l.err, e) })
		}
		if granted {
			l.next, background = nil, time.Second
		}
	})
	l.pass(background)
	l.at(func() { l.next, sends = nil, l.sends })
	if granted {
		l.held("at first")
		l.pass(lease)
		l.held("after a lease")
		must(0, l.leave(context.Background()))(l.rig)
	}
	stays := l.stays()
	if stays < 0 {
		return
	}
	if l.wait > 0 {
		most += 2 * time.Second // a waiter that was refused waits for the end of an outage
	}
	if took > most {
		l.Errorf("it took longer than %v", most)
	}
	if sends > 9 && !l.hit(late) { // which is undone each second
		l.Errorf("%d sends", sends)
	}
	if !explained {
		l.Error("nothing explains what it returned")
	}
	lost := l.hit(closed) || l.hit(allLost) // the outer hold, too
	if s := l.state(); s != base && !lost && !l.unlocks && stays == 0 {
		l.Errorf("the server has\n%swant\n%s", s, base)
	}
	if l.outer != nil {
		if !l.unlocks {
			err := l.outer.Err()
			if n := l.count(l.owner.LogValue().String(), kinds[l.outerKind].field); err == nil && n == "" {
				l.Error("the outer hold goes on, and the server has none")
			}
			l.unlocked <- errors.Join(err, l.outer.Unlock(context.Background()))
		}
		if err := <-l.unlocked; err != nil && !lost {
			l.Errorf("the outer hold: %v", err)
		}
	}
	if l.beside != nil {
		_ = l.beside.Unlock(context.Background())
	}
	if l.outer == nil || l.unlocks || l.hit(closed) || l.hit(allLost) || l.hit(textLeaves) { // else the outer hold's unlock has taken all away
		l.pass(stays)
	}
	if err := l.try(); err != nil {
		l.Errorf("another client is told %v", err)
	}
	if s := l.state(); l.kind != "" && s != "" || l.kind == "" && s != base {
		l.Errorf("it is left:\n%s", s)
	}
}
