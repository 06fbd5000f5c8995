package stage

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
)

// javaWorker drives one thread of a JVM at a time.
type javaWorker struct {
	*javaProcess
	number int
	rng    *rand.Rand
}

func (w *javaWorker) between(least, most time.Duration) time.Duration {
	return (least + time.Duration(w.rng.Int64N(int64(most-least)))).Truncate(time.Millisecond)
}

func (w *javaWorker) loop() {
	var r *javaRun
	var t *javaThread
	for {
		select {
		case <-w.stopping:
			return
		case <-time.After(w.between(time.Millisecond, 20*time.Millisecond)):
		}
		now := w.current()
		if now == nil {
			r, t = nil, nil
			continue
		}
		if now != r || t == nil {
			r, t = now, now.thread()
		}
		if !w.round(r, t) {
			t = nil
		}
	}
}

// asking is how a thread acquires and releases something.
type asking struct {
	locks   []int         // one, or the members of a multi-lock
	call    history.Event // of the acquire
	modes   [3]string     // the names of try, wait and lock
	try     func() (javapeer.Reply, error)
	wait    func(time.Duration) (javapeer.Reply, error)
	lock    func() (javapeer.Reply, error)
	longest time.Duration // the longest that wait waits
	queued  bool          // lock must not be interrupted
	got     func(javapeer.Reply) bool
	held    func(call history.Event, reply javapeer.Reply) history.Event
	release func() (javapeer.Reply, error)
	// released reports whether release released something; nil: it always does.
	released func(javapeer.Reply) bool
	undo     func() // after an exception; nil: there is nothing to undo
}

// take is one acquire and its release. It reports whether the thread can be used again.
func (w *javaWorker) take(ctx context.Context, r *javaRun, t *javaThread, k asking) bool {
	ops := make([]int64, len(k.locks))
	for i := range ops {
		ops[i] = w.ops.Add(1)
	}
	say := func(e history.Event) {
		if e.At == 0 {
			e.At = machineclock.Now()
		}
		for i, op := range ops {
			e.Op, e.Lock = op, k.locks[i]
			w.stage.Book.Add(r.id, e)
		}
	}
	call := k.call
	call.What, call.Worker = history.Called, w.number
	begin := func(mode string) {
		call.Mode, call.At = mode, machineclock.Now()
		say(call)
	}
	var reply javapeer.Reply
	var err error
	got := k.got
	switch n := w.rng.IntN(10); {
	case n < 3:
		if k.modes[0] == "tryLock" {
			call.Lease = 0 // the watchdog's
		}
		begin(k.modes[0])
		reply, err = k.try()
	case n < 8:
		begin(k.modes[1])
		reply, err = k.wait(w.between(10*time.Millisecond, k.longest))
	default:
		begin(k.modes[2])
		got = func(javapeer.Reply) bool { return true }
		enough := time.AfterFunc(w.between(time.Second, 4*time.Second), func() {
			if !k.queued {
				t.Interrupt(ctx)
			}
		})
		reply, err = k.lock()
		enough.Stop()
	}
	if err != nil || !got(reply) {
		kind := refused(err)
		say(history.Event{What: history.Refused, Kind: kind})
		if err != nil && k.undo != nil {
			k.undo()
		}
		return kind == history.Locked // a re-entry may be its repeated acquire that met its first
	}
	held := k.held(call, reply)
	held.What, held.At = history.Held, reply.At
	say(held)
	time.Sleep(w.stay())
	say(history.Event{What: history.Unlock})
	if reply, err = k.release(); err != nil {
		kind, clean := exception(err)
		left := ""
		if k.undo != nil {
			left = history.Left
		}
		say(history.Event{What: history.Unlocked, Kind: kind, Mode: left})
		if k.undo != nil {
			k.undo()
		}
		return clean
	}
	kind := history.OK
	if k.released != nil && !k.released(reply) {
		kind = history.NotHeld
	}
	say(history.Event{At: reply.At, What: history.Unlocked, Kind: kind})
	return true
}

// round is one acquire and its release. It reports whether the thread can be used again.
func (w *javaWorker) round(r *javaRun, t *javaThread) bool {
	s := w.stage
	r.working(t, true)
	defer r.working(t, false)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	lock := w.rng.IntN(s.Sizes.Locks)
	lease := javapeer.Watchdog
	if w.rng.IntN(3) == 0 {
		lease = w.between(80*time.Millisecond, s.Watchdog)
	}
	switch {
	case s.Kind.Several:
		return w.take(ctx, r, t, w.together(ctx, t))
	case s.Kind.Permits > 0:
		return w.take(ctx, r, t, w.permit(ctx, t, lock, max(lease, s.Watchdog/5)))
	}
	part := s.Kind.Parts[0]
	if len(s.Kind.Parts) > 1 && w.rng.IntN(10) < 4 {
		part = s.Kind.Parts[1]
	}
	return w.take(ctx, r, t, w.locking(ctx, t, part, lock, lease))
}

// locking asks for one lock.
func (w *javaWorker) locking(ctx context.Context, t *javaThread, part javapeer.Kind, lock int, lease time.Duration) asking {
	s, as, name := w.stage, t.Of(part), LockName(lock)
	if s.Kind.Order && t.place == "" {
		if owner, err := t.Owner(ctx); err == nil {
			t.place = owner.Text()
		}
	}
	k := asking{
		locks: []int{lock}, modes: [3]string{"tryLock", "tryLock(wait)", "lockInterruptibly"}, longest: 1500 * time.Millisecond,
		queued: s.Kind.Order, // the place that it leaves would keep all others out
		call:   history.Event{Read: part == javapeer.Read, Lease: max(lease, 0).Nanoseconds()},
		got:    javapeer.Reply.Bool,
		try:    func() (javapeer.Reply, error) { return as.TryLock(ctx, name) },
		wait: func(d time.Duration) (javapeer.Reply, error) {
			return as.TryLockFor(ctx, name, cmp.Or(s.Place, d), lease)
		},
		lock:    func() (javapeer.Reply, error) { return as.LockInterruptibly(ctx, name, lease) },
		release: func() (javapeer.Reply, error) { return as.Unlock(ctx, name) },
	}
	numbered := false // the reply is a token
	if s.Kind.Tokens {
		k.wait = func(d time.Duration) (javapeer.Reply, error) {
			numbered = true
			return as.TryLockAndGetToken(ctx, name, d, lease)
		}
		k.got = func(r javapeer.Reply) bool { return numbered && r.Text() != "null" || !numbered && r.Bool() }
	}
	k.held = func(call history.Event, reply javapeer.Reply) history.Event {
		e := history.Event{Owner: t.owner, Place: t.place, Until: call.At + cmp.Or(call.Lease, s.Watchdog.Nanoseconds())}
		if numbered {
			e.Token = new(reply.Int())
		} else if s.Kind.Tokens {
			// The last token is this grant's while the thread has the lock.
			if last, err := as.Token(ctx, name); err == nil && last.At < e.Until {
				e.Token = new(last.Int())
			}
		}
		return e
	}
	return k
}

// permit asks for one permit of a semaphore, always with a lease: without one the permit of a killed JVM would never come
// back.
func (w *javaWorker) permit(ctx context.Context, t *javaThread, lock int, lease time.Duration) asking {
	id := ""
	call := func(method string, args ...any) (javapeer.Reply, error) {
		return t.Of("permits").Call(ctx, LockName(lock), method, args...)
	}
	return asking{
		locks: []int{lock}, modes: [3]string{"tryAcquire", "tryAcquire(wait)", "acquire"}, longest: 1500 * time.Millisecond,
		call: history.Event{Lease: lease.Nanoseconds(), Permits: 1},
		got:  func(r javapeer.Reply) bool { return r.Text() != "null" },
		try:  func() (javapeer.Reply, error) { return call("tryacquirefor", time.Duration(0), lease) },
		wait: func(d time.Duration) (javapeer.Reply, error) { return call("tryacquirefor", d, lease) },
		lock: func() (javapeer.Reply, error) { return call("acquire", lease) },
		held: func(call history.Event, reply javapeer.Reply) history.Event {
			id = reply.Text()
			// It ends by Java's clock, which has whole milliseconds.
			return history.Event{Owner: id, Until: call.At + (lease - time.Millisecond).Nanoseconds()}
		},
		release: func() (javapeer.Reply, error) { return call("tryrelease", id) }, released: javapeer.Reply.Bool,
	}
}

// together asks for a multi-lock of up to three locks, in any order. It gives no lease: if a member was lost meanwhile,
// Redisson would set the lease of its next holder. No thread is interrupted: Redisson 4.7.0 takes an interrupt for a refusal
// and the thread stays interrupted, so it asks again and again, is granted a member once more each time, and releases none.
// After an exception each member is released by itself.
func (w *javaWorker) together(ctx context.Context, t *javaThread) asking {
	members := w.rng.Perm(w.stage.Sizes.Locks)[:min(1+w.rng.IntN(3), w.stage.Sizes.Locks)]
	if w.rng.IntN(10) < 6 {
		slices.Sort(members)
	}
	var names []string
	for _, lock := range members {
		names = append(names, LockName(lock))
	}
	all, name := t.Of(javapeer.Multi), strings.Join(names, ",")
	return asking{
		locks: members, modes: [3]string{"tryLock", "tryLock(wait)", "lockInterruptibly"}, longest: 800 * time.Millisecond, queued: true,
		got:  javapeer.Reply.Bool,
		try:  func() (javapeer.Reply, error) { return all.TryLock(ctx, name) },
		wait: func(d time.Duration) (javapeer.Reply, error) { return all.TryLockFor(ctx, name, d, javapeer.Watchdog) },
		lock: func() (javapeer.Reply, error) { return all.LockInterruptibly(ctx, name, javapeer.Watchdog) },
		held: func(call history.Event, _ javapeer.Reply) history.Event {
			// Each member is renewed from its grant on, at some unknown time after the call.
			return history.Event{Owner: t.owner, Until: call.At + w.stage.Watchdog.Nanoseconds()}
		},
		release: func() (javapeer.Reply, error) { return all.Unlock(ctx, name) },
		undo: func() {
			for _, name := range names {
				t.Unlock(ctx, name) // it fails if the thread does not hold this one
			}
		},
	}
}

// stay returns how long a thread stays inside.
func (w *javaWorker) stay() time.Duration {
	switch n := w.rng.IntN(20); {
	case n == 0:
		return w.between(100*time.Millisecond, w.stage.Watchdog*3/2)
	case n < 4:
		return w.between(20*time.Millisecond, 200*time.Millisecond)
	}
	return w.between(0, 15*time.Millisecond)
}

// refused names why Java did not get a lock.
func refused(err error) string {
	if err == nil {
		return history.Locked
	}
	kind, clean := exception(err)
	if clean {
		return history.Reentered
	}
	return kind
}
