package virtual_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// acquiring is one way to acquire what is named orders.
type acquiring struct {
	name      string
	kind      string                             // of the lock; "": none
	outerKind string                             // the kind of lock that its owner holds already; "": it has an owner for itself
	set       func(l *life)                      // what others do before
	enter     func(l *life, ctx context.Context) // nil: it is Lock
	wait      time.Duration                      // for others
}

var acquirings = []acquiring{
	{name: "lock", kind: "plain"},
	{name: "try", kind: "plain", enter: func(l *life, ctx context.Context) { l.got(l.lock(l.c).TryLock(ctx)) }},
	{name: "re-entry", kind: "plain", outerKind: "plain"},
	{name: "fenced", kind: "fenced"},
	{name: "fair", kind: "fair"},
	{name: "fair, behind another", kind: "fair", wait: 500 * time.Millisecond, set: func(l *life) {
		h := must(l.lock(l.others).Lock(context.Background()))(l.rig)
		time.AfterFunc(l.wait, func() { _ = h.Unlock(context.Background()) })
	}},
	{name: "read, beside another", kind: "read", set: func(l *life) {
		l.beside = must(l.lock(l.others).Lock(context.Background(), rlock.Lease(time.Hour)))(l.rig)
	}},
	{name: "write", kind: "write"},
	{name: "read, inside a write", kind: "read", outerKind: "write"},
	{name: "permit", enter: func(l *life, ctx context.Context) {
		p, err := l.c.NewPermitSemaphore("orders").Acquire(ctx, 1)
		if l.err = err; err == nil {
			l.over, l.leave = p.Err, p.Release
		}
	}, set: func(l *life) {
		must(l.others.NewPermitSemaphore("orders").TrySetPermits(context.Background(), 1))(l.rig)
	}},
	{name: "semaphore", enter: func(l *life, ctx context.Context) {
		s := l.c.NewSemaphore("orders")
		l.err = s.Acquire(ctx, 1)
		l.over, l.leave = func() error { return nil }, func(ctx context.Context) error { return s.Release(ctx, 1) }
	}, set: func(l *life) {
		must(l.others.NewSemaphore("orders").TrySetPermits(context.Background(), 1))(l.rig)
	}},
}

// disturbance strikes one send of an acquire.
type disturbance struct {
	name   string
	locks  bool                                     // it strikes only locks
	owners bool                                     // it strikes only owners that hold already, and leaves the send to the next disturbance
	hits   func(l *life, args []string) (no string) // before the send runs; the error that answers it instead
	ran    func(l *life)                            // when it has run, before the reply is sent
	slow   time.Duration                            // that the call may take longer
	errs   []error                                  // that the call may return
}

const (
	late, inPart, forGood = "the request comes late", "it runs in part", "it is refused for good"
	textLeaves, closed    = "the owner's text leaves", "the client is closed"
	allLost, givesUp      = "the server loses all", "the caller gives up"
)

var disturbances = []disturbance{
	{name: "nothing"},
	{name: "the request is lost", hits: func(l *life, _ []string) string { l.cuts(); return "ERR lost" }},
	{name: "the reply is lost", ran: (*life).cuts},
	{name: "the reply is late", ran: func(l *life) { l.holdsBack(time.Second) }, slow: time.Second},
	{name: "the request never comes", hits: func(l *life, _ []string) string { l.holdsBack(5 * time.Second); return "ERR lost" },
		slow: 3 * time.Second, errs: []error{rlock.ErrUncertain}},
	{name: "the reply never comes", ran: func(l *life) { l.holdsBack(5 * time.Second) }, slow: 3 * time.Second, errs: []error{rlock.ErrUncertain}},
	{name: "it is refused for now", hits: says("LOADING Redis is loading the dataset in memory")},
	{name: forGood, hits: says("NOPERM this user has no permissions to run the 'evalsha' command"), errs: []error{rlock.ErrRefused}},
	{name: "the server is full", hits: says("OOM command not allowed when used memory > 'maxmemory'."), errs: []error{rlock.ErrRefused}},
	{name: inPart, hits: func(l *life, _ []string) string { l.server.Deny("pexpire", true); return "" },
		ran: func(l *life) { l.server.Deny("pexpire", false) }, errs: []error{rlock.ErrUncertain}},
	{name: late, hits: func(l *life, args []string) string {
		l.cuts()
		l.server.Deny("client|kill", true)
		args = slices.Clone(args)
		l.world.After(2500*time.Millisecond, func() { l.server.Session("10.9.0.1").Do(args...) })
		return "ERR lost"
	}, errs: []error{rlock.ErrUncertain}},
	{name: "the server restarts", ran: func(l *life) { l.restarts(l.server.Save()) }},
	{name: "a failover undoes it", hits: func(l *life, _ []string) string { l.before = l.server.Save(); return "" }, ran: func(l *life) { l.restarts(l.before) }},
	{name: allLost, locks: true, ran: func(l *life) { l.restarts(simredis.Saved{}) }},
	{name: givesUp, hits: func(l *life, _ []string) string { l.cancel(); return "" }, errs: []error{context.Canceled}},
	{name: closed, hits: func(l *life, _ []string) string { go l.c.Close(); return "" }, errs: []error{rlock.ErrClosed}},
	{name: textLeaves, owners: true, hits: func(l *life, _ []string) string { _ = l.owner.String(); return "" }, errs: []error{rlock.ErrUncertain}},
	{name: "the outer hold is unlocked", owners: true, hits: func(l *life, _ []string) string {
		if !l.unlocks {
			l.unlocks = true
			go func() { l.unlocked <- l.outer.Unlock(context.Background()) }()
		}
		return ""
	}},
}

func says(text string) func(*life, []string) string {
	return func(*life, []string) string { return text }
}

// play plays one life, and returns how many of the disturbances have struck.
func (a acquiring) play(t *testing.T, first, second disturbance) (struck int) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		l := &life{rig: r, acquiring: a, loaded: map[string]bool{}, unlocked: make(chan error, 1)}
		r.at(func() {
			r.server.Refuse = l.strikes
			r.server.Ran = func(_ *simredis.Server, _ string, args []string, _ any) {
				if ran := l.ran; ran != nil && l.sent(args) {
					l.ran = nil
					ran(l)
				}
			}
		})
		l.c, l.others = r.open(), r.open()
		if a.set != nil {
			a.set(l)
		} else {
			must(0, l.try())(r)
		}
		var opts []rlock.AcquireOption
		if a.outerKind != "" {
			l.owner = l.c.NewOwner()
			opts = append(opts, rlock.As(l.owner))
			l.outer = must(kinds[a.outerKind].lock(l.c).Lock(ctx, opts...))(r)
		}
		base := ""
		if a.wait == 0 {
			base = l.state()
		}
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		l.cancel = cancel
		r.at(func() { l.next, l.sends = []disturbance{first, second}, 0 })
		began := time.Now()
		if a.enter != nil {
			a.enter(l, ctx)
		} else {
			l.got(l.lock(l.c).Lock(ctx, opts...))
		}
		took := since(began)
		defer func() {
			if t.Failed() {
				t.Logf("%d struck, and it returned %v after %v", len(l.struck), l.err, took)
			}
		}()
		l.judge(base, took)
		struck = len(l.struck)
	})
	return struck
}

// Two disturbances strike an acquire, each one of its sends. Whatever the call returns is true, comes in time, and nothing else is left.
func TestEveryPairOfDisturbancesOfAnAcquire(t *testing.T) {
	for _, a := range acquirings {
		t.Run(a.name, func(t *testing.T) {
			all := slices.DeleteFunc(slices.Clone(disturbances), func(d disturbance) bool { return d.locks && a.kind == "" || d.owners && a.outerKind == "" })
			for _, first := range all {
				for _, second := range all {
					struck := 0
					t.Run(first.name+", then "+second.name, func(t *testing.T) { struck = a.play(t, first, second) })
					if struck < 2 {
						break // there is no second send, for whatever would strike it
					}
				}
			}
		})
	}
}
