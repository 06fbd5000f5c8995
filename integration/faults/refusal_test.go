package faults

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// refusal is a state in which the server refuses scripts that write.
type refusal struct {
	code    string
	by      string
	told    string // the kind of the error that reports it in the end, if not the server's own reply
	says    string // what the text must have if nothing could be sent
	replica bool   // other commands may be refused as READONLY, after which the client drops the connection
	passes  bool   // it passes by itself: even TryLock waits for that, for a command timeout
	spins   bool   // the server is so busy that it may not even refuse within the command timeout
	enforce func(*round) (lift func())
}

func config(parameter, during, after string) func(*round) func() {
	return func(r *round) func() {
		testbed.Do(r.T, r.direct, "CONFIG", "SET", parameter, during)
		return func() { testbed.Do(r.T, r.direct, "CONFIG", "SET", parameter, after) }
	}
}

// orphaned makes the server the replica of a master that does not exist.
func orphaned(serveStale string) func(*round) func() {
	return func(r *round) func() {
		testbed.Do(r.T, r.direct, "CONFIG", "SET", "replica-serve-stale-data", serveStale)
		testbed.Do(r.T, r.direct, "REPLICAOF", "127.0.0.1", 1)
		return func() { testbed.Do(r.T, r.direct, "REPLICAOF", "NO", "ONE") }
	}
}

// replied makes the proxy reply for the server, because the state itself is hard to keep up.
func replied(text string) func(*round) func() {
	return func(r *round) func() {
		writes := func(cmd []string) bool { return acquires(cmd) || unlocks(cmd) }
		h := r.proxy.Add(faultproxy.Rule{Match: faultproxy.All(writes, faultproxy.Key(r.name)), Do: faultproxy.Answer, Reply: []byte("-" + text + "\r\n")})
		return h.Remove
	}
}

// busy keeps the server in a script that does not end until it is killed.
func busy(r *round) func() {
	testbed.Do(r.T, r.direct, "CONFIG", "SET", "busy-reply-threshold", 10)
	c := r.dial(r.T)
	ended := make(chan error, 1)
	go func() {
		_, err := c.Do("EVAL", "while true do end", 0)
		ended <- err
	}()
	testbed.BecomesWithin(r.T, soon, "the server is busy", func() bool {
		_, err := r.direct.Do("PING")
		return err != nil && strings.HasPrefix(err.Error(), "BUSY")
	})
	return func() {
		testbed.Do(r.T, r.direct, "SCRIPT", "KILL")
		<-ended
		c.Close()
		testbed.BecomesWithin(r.T, soon, "the server is busy no more", func() bool { _, err := r.direct.Do("PING"); return err == nil })
	}
}

// play lets the refusal hit, in turn: an acquire, for a moment; an acquire, until it returns; a waiter; an unlock.
func (f refusal) play(r *round) {
	reported := cmp.Or(f.told, "reported as "+f.code)
	late := ok
	if f.spins {
		late = uncertain
	}
	switch r.variant(4) {
	case 0:
		lift := f.enforce(r)
		calls := r.acquiring(func() (*rlock.Hold, error) { return r.lock.TryLock(r.Context()) })
		from := time.Now()
		<-time.After(timeout / 3)
		lift()
		moment := time.Since(from) < timeout*3/4 // otherwise the machine was slow
		got := r.await(calls)
		if f.passes && !moment {
			r.allowed("for too long a moment, TryLock: ", got.Err, ok, reported, late)
		} else if f.passes {
			r.allowed("for a moment, TryLock: ", got.Err, ok, late)
		} else {
			r.allowed("for a moment, TryLock: ", got.Err, reported)
		}
		r.inside(got)
	case 1:
		lift := f.enforce(r)
		began := time.Now()
		_, err := r.lock.Lock(r.Context())
		r.row.took("reported after", time.Since(began))
		if took := time.Since(began); took > usualBound {
			r.violates("reported after %v", took)
		}
		lift()
		if kindOf(err) == unreachable && !strings.Contains(err.Error(), f.says) {
			r.violates("the error does not say %q: %v", f.says, err)
		}
		kinds := []string{reported}
		if f.spins {
			kinds = append(kinds, uncertain)
		}
		if f.replica {
			kinds = append(kinds, unreachable)
		}
		r.allowed("for long, Lock: ", err, kinds...)
	case 2:
		const first = 800 * time.Millisecond
		r.take(r.his, rlock.Lease(first))
		r.counts(1, 1)
		calls := r.waits()
		testbed.BecomesWithin(r.T, soon, "the waiter tries again", func() bool { return r.answered(acquires) >= 2 })
		lift := f.enforce(r)
		<-time.After(first + 2*timeout) // the lease ends, and a call that gives up after a command timeout would
		lift()
		got := r.await(calls)
		r.allowed("for long, a waiter: ", got.Err, ok)
		r.inside(got)
	case 3:
		h := r.take(r.lock)
		lift := f.enforce(r)
		unlocked := r.asks(func() error { return h.Unlock(context.Background()) })
		<-time.After(timeout * 3 / 2)
		lift()
		r.allowed("for 0.3 s, Unlock: ", unlocked.end(), ok)
	}
	r.comesFree()
	r.row.counted(1, 0) // finish compares the grants with the server's own count
}

var refusals = func() (all []scenario) {
	const readOnly = " is a replica of 127.0.0.1:1 (link "
	for _, f := range []refusal{
		{code: "LOADING", by: "proxy: reply in the server's place", passes: true, enforce: replied("LOADING Redis is loading the dataset in memory")},
		// The same batch may delete the latch of the previous unlock, by a DEL that is refused as READONLY.
		{code: "MASTERDOWN", by: "server: REPLICAOF a master that is not there, no stale data", passes: true, replica: true, says: readOnly, enforce: orphaned("no")},
		{code: "READONLY", by: "server: REPLICAOF a master that is not there", passes: true, told: unreachable,
			says: readOnly, enforce: orphaned("yes")},
		{code: "OOM", by: "server: CONFIG SET maxmemory 1", enforce: config("maxmemory", "1", "0")},
		{code: "BUSY", by: "server: EVAL while true, SCRIPT KILL", passes: true, spins: true, enforce: busy},
	} {
		all = append(all, scenario{
			fault: "server answers " + f.code, by: f.by, times: 100, lanes: 4, alone: true, latches: f.spins, round: f.play,
		})
	}
	return all
}()
