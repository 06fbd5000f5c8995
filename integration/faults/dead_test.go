package faults

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

// stopped freezes the server's process: what was sent meanwhile runs when it goes on.
func stopped(r *round) func() {
	r.server.Pause()
	return r.server.Resume
}

// swallowed makes the network accept everything and deliver nothing.
func swallowed(r *round) func() {
	r.proxy.Blackhole(true)
	hole := r.proxy.Add(faultproxy.Rule{Do: faultproxy.Blackhole})
	return func() {
		hole.Remove()
		r.proxy.Blackhole(false)
		r.proxy.CutAll() // a connection that is in the hole stays there
	}
}

// dead makes the server go silent before an acquire, an unlock or a read, in turn.
func dead(silence func(*round) func()) func(*round) {
	return func(r *round) {
		h := r.take(r.lock)
		r.release(h)
		switch r.variant(3) {
		case 0:
			back := silence(r)
			began := time.Now()
			_, err := r.lock.Lock(r.Context())
			r.noticed("Lock", time.Since(began))
			back()
			r.allowed("Lock: ", err, uncertain)
		case 1:
			h := r.take(r.lock)
			back := silence(r)
			unlocked := r.asks(func() error { return h.Unlock(context.Background()) })
			<-time.After(2 * timeout)
			back()
			r.allowed("Unlock, silence of 0.4 s: ", unlocked.end(), ok)
		case 2:
			h := r.take(r.lock)
			back := silence(r)
			began := time.Now()
			_, err := r.lock.IsLocked(r.Context())
			r.noticed("IsLocked", time.Since(began))
			back()
			if kind := kindOf(err); err == nil || kind == locked {
				r.violates("a question to a silent server: %v", err)
			}
			r.row.outcome("IsLocked: an error that says so", 1)
			r.holds(1, h)
			r.release(h)
		}
		r.comesFree()
		r.row.counted(1, -1)
	}
}

// noticed checks that a call reported a silent server within 2.5 command timeouts, unless the machine stood still.
func (r *round) noticed(what string, after time.Duration) {
	r.Helper()
	r.row.took(what+" told of it after", after)
	if after > 2*timeout+timeout/2 && !machine.stood(r.began) {
		r.violates("%s told of it after %v", what, after)
	}
}

// door listens at a proxy's address and closes every connection that it accepts.
type door struct {
	listener net.Listener
	done     sync.WaitGroup
	mu       sync.Mutex
	knocks   []time.Time // guarded by mu
}

func (r *round) shut() *door {
	r.Helper()
	r.proxy.Refuse(true)
	// A child process that is just starting holds the port until it has closed the files that it inherited.
	var listener net.Listener
	var err error
	if !testbed.Within(soon, func() bool { listener, err = net.Listen("tcp", r.proxy.Addr()); return err == nil }) {
		r.Fatal(err)
	}
	d := &door{listener: listener}
	d.done.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			d.mu.Lock()
			d.knocks = append(d.knocks, time.Now())
			d.mu.Unlock()
			c.Close()
		}
	})
	r.proxy.CutAll()
	return d
}

func (d *door) open() []time.Time {
	d.listener.Close()
	d.done.Wait()
	return d.knocks
}

// outage is how long reconnecting is watched.
func outage() time.Duration {
	if full() {
		return 5 * time.Second
	}
	return 3 * time.Second
}

// reconnects counts how often a client connects to a server that closes every connection: in turn for commands and
// subscription, with twenty callers that keep asking and a waiter, and for the subscription alone, with the waiter.
func reconnects(r *round) {
	first := r.rivalTakes()
	calls := r.waits()
	testbed.BecomesWithin(r.T, soon, "the waiter tries again", func() bool { return r.answered(acquires) >= 2 })
	ctx, cancel := context.WithCancel(r.Context())
	var asking sync.WaitGroup
	what := "subscription: "
	began := time.Now()
	d := r.shut()
	if r.i%2 == 0 {
		what = "commands and subscription: "
		for range 20 {
			asking.Go(func() {
				for ctx.Err() == nil {
					_, err := r.client.NewLock(r.name + "-else").TryLock(ctx)
					if kind := kindOf(err); err == nil || kind == undocumented || kind == locked {
						r.violates("an acquire while nobody answers: %v", err)
					}
				}
			})
		}
	}
	<-time.After(outage())
	cancel()
	asking.Wait()
	knocks := d.open()
	r.proxy.Refuse(false)
	back := time.Now()
	inFirst, later := 0, 0
	var gaps []time.Duration
	for i, k := range knocks {
		if k.Sub(began) < time.Second {
			inFirst++
		} else {
			later++
			gaps = append(gaps, k.Sub(knocks[max(i-1, 0)]))
		}
	}
	// At least half of each pause is random, so that the clients of a server do not reconnect in step.
	if len(gaps) > 3 && slices.Max(gaps)-slices.Min(gaps) < slices.Max(gaps)/100 {
		r.violates("the pauses are all alike: %v", gaps)
	}
	seconds := outage().Seconds() - 1
	r.row.most(what+"connects in the first second", float64(inFirst))
	r.row.most(what+"connects a second after that", float64(later)/seconds)
	// The pauses grow from some milliseconds. Those of the command connection grow to at least a sixth of the command
	// timeout, or half a second if that is less; those of the subscription to a fifth of a second.
	most := 1/min(0.5, r.row.timeout.Seconds()/6) + 5
	if float64(inFirst) > most+10 || float64(later)/seconds > most || len(knocks) == 0 {
		r.violates("%d connects in the first second, %d in the %.0f s after it", inFirst, later, seconds)
	}
	r.release(first) // while the waiter reconnects
	got := r.await(calls)
	r.allowed("", got.Err, ok)
	if got.Err == nil {
		r.row.took("entered after", got.At.Sub(back))
		r.release(got.Hold)
	}
	r.comesFree()
	r.row.counted(1, -1)
}

var deadServers = []scenario{
	{fault: "server stands still", by: "server: SIGSTOP, SIGCONT", times: 60, lanes: 4, alone: true, inexact: true, round: dead(stopped)},
	{fault: "server or network swallows everything", by: "proxy: blackhole", times: 60, lanes: 4, round: dead(swallowed)},
	{fault: "server shuts every connection for 5 s", by: "proxy's port: accepted and closed", times: 20, lanes: 10, inexact: true, parallel: true, round: reconnects},
	{fault: "the same with the default command timeout of 3 s", by: "proxy's port: accepted and closed", times: 20, lanes: 10, inexact: true, parallel: true,
		timeout: 3 * time.Second, bound: 4 * time.Second, round: reconnects},
}
