package faults

import (
	"context"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// kill makes the server close the lane's connections that have subscribed, or those that have not.
func (r *round) kill(subscribed bool) {
	r.Helper()
	for _, c := range r.proxy.Log() {
		has := slices.ContainsFunc(c.Cmds, faultproxy.Command("SUBSCRIBE"))
		if c.Open && c.Addr != "" && len(c.Cmds) > 0 && has == subscribed {
			testbed.Do(r.T, r.direct, "CLIENT", "KILL", "TYPE", map[bool]string{true: "pubsub", false: "normal"}[subscribed], "ADDR", c.Addr)
		}
	}
}

// cutSubscription: the waiter's subscription ends, and it misses what is published meanwhile.
func cutSubscription(r *round) {
	first := r.rivalTakes()
	calls := r.waits()
	testbed.BecomesWithin(r.T, soon, "the waiter tries again", func() bool { return r.answered(acquires) >= 2 })
	var from time.Time
	switch r.i % 3 {
	case 0: // released while the subscription is down
		r.kill(true)
		from = time.Now()
		r.release(first)
	case 1: // released when the subscription is back
		r.kill(true)
		r.expects(soon, "the waiter did not look again after its subscription was cut", func() bool { return r.answered(acquires) >= 3 })
		from = time.Now()
		r.release(first)
	case 2: // released while nobody can connect
		r.proxy.Refuse(true)
		r.proxy.CutAll()
		r.release(first)
		<-time.After(timeout) // the length of the outage
		from = time.Now()
		r.proxy.Refuse(false)
	}
	got := r.await(calls)
	r.allowed("", got.Err, ok)
	if got.Err != nil {
		return
	}
	r.within(from, got.At)
	r.holds(1, got.Hold)
	r.release(got.Hold)
	r.comesFree()
	r.row.counted(1, -1)
}

// idleClose: the server closes the command connection between calls, before each kind of call in turn.
func idleClose(r *round) {
	noticed := func() {
		r.kill(false)
		if r.i%2 == 0 {
			<-time.After(3 * time.Millisecond) // time to notice; otherwise the next call notices
		}
	}
	var h *rlock.Hold
	var err error
	switch r.i % 4 {
	case 0: // acquire
		noticed()
		h, err = r.lock.Lock(r.Context())
	case 1: // acquire without waiting
		noticed()
		h, err = r.lock.TryLock(r.Context())
	default:
		h, err = r.lock.Lock(r.Context())
	}
	r.allowed("", err, ok)
	if err != nil {
		return
	}
	r.auditor.believe(h)
	count := 1
	switch r.i % 4 {
	case 2: // a read, and the release below
		noticed()
		n, err := r.lock.HoldCount(r.Context(), h.Owner())
		if (err != nil || n != 1) && !r.excused(err) {
			r.violates("HoldCount: %d, %v", n, err)
		}
		noticed()
	case 3: // re-entry
		noticed()
		again, err := r.lock.Lock(r.Context(), rlock.As(h.Owner()))
		r.allowed("", err, ok)
		if err == nil {
			count = 2
			r.auditor.believe(again)
			r.holds(count, h, again)
			r.release(again)
		}
	}
	if err := h.Unlock(context.Background()); err != nil {
		r.violates("Unlock: %v", err)
	}
	r.comesFree()
	r.row.counted(1, -1)
}

var connectionFaults = []scenario{
	{fault: "subscription lost while waiting", by: "server: CLIENT KILL; proxy: refuses for 0.2 s", times: 100, round: cutSubscription},
	{fault: "idle command connection closed", by: "server: CLIENT KILL between calls", times: 1000, inexact: true, round: idleClose},
}
