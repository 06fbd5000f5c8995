package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
)

// The server ends permits by whole milliseconds of its clock, which have begun when an acquire arrives. Nobody may take a permit
// before its holder's trust is over, however short its lease is.
func TestPermitIsTakenForAsLongAsItsHolderTrustsIt(t *testing.T) {
	const lease = 20 * time.Millisecond
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		s := r.open().NewPermitSemaphore("seats")
		must(s.TrySetPermits(ctx, 1))(r)
		look := func(p *rlock.Permits, when string) {
			r.Helper()
			r.pass(time.Until(p.ValidUntil()) - time.Microsecond)
			if err := p.Err(); err != nil {
				r.Fatalf("%s: %v", when, err)
			}
			r.at(func() {
				c := r.server.Session(host(9))
				now, end := numbers(c.Do("TIME")), numbers(c.Do("ZRANGE", codec.PermitTimes("seats"), "0", "-1", "WITHSCORES"))
				if ms := now[0]*1000 + now[1]/1000; end[len(end)-1] <= ms {
					r.Errorf("%s it ended at %d, and it is trusted at %d ms and %d µs", when, end[len(end)-1], ms, now[1]%1000)
				}
			})
		}
		for i := range 20 {
			r.pass(137 * time.Microsecond)
			p := must(s.TryAcquire(ctx, 1, rlock.Lease(lease)))(r)
			look(p, fmt.Sprint("acquired ", i))
			_ = p.Release(ctx) // which comes behind its end
		}
		for i := range 20 {
			p := must(s.TryAcquire(ctx, 1, rlock.Lease(time.Second)))(r)
			r.pass(137 * time.Microsecond)
			if err := p.Extend(ctx, lease); err != nil {
				r.Fatal(err)
			}
			look(p, fmt.Sprint("extended ", i))
			_ = p.Release(ctx)
		}
	})
}

// Permits have their own renewal script, and are not renewed once they are released.
func TestReleasedPermitsAreNotRenewed(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		s := r.open().NewPermitSemaphore("seats")
		must(s.TrySetPermits(ctx, 2))(r)
		p := must(s.Acquire(ctx, 2))(r)
		r.pass(5 * time.Minute)
		r.goesOn(p)
		must(0, p.Release(ctx))(r)
		ran := r.scripts(1)
		r.pass(5 * time.Minute)
		if n := ran(); n > 0 {
			t.Errorf("%d scripts ran after the release", n)
		}
	})
}

// Those whose lease ends come back by themselves, and so do those of a client that is gone.
func TestPermitsThatAreNotReleasedComeBack(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		a, b := r.open(), r.open()
		s := a.NewPermitSemaphore("seats")
		must(s.TrySetPermits(ctx, 3))(r)
		fixed := must(s.Acquire(ctx, 1, rlock.Lease(5*time.Second)))(r)
		dead := must(b.NewPermitSemaphore("seats").Acquire(ctx, 2))(r)
		began := time.Now()
		next := must(s.Acquire(ctx, 1))(r)
		if took := since(began); took < 5*time.Second-10*time.Millisecond || took > 6*time.Second || fixed.Err() == nil {
			t.Errorf("it entered after %v of 5 s; the hold: %v", took, fixed.Err())
		}
		must(0, next.Release(ctx))(r)
		if err := fixed.Release(ctx); !errors.Is(err, rlock.ErrLeaseLost) || !errors.Is(err, rlock.ErrNotHeld) {
			t.Errorf("the release of lost permits: %v", err)
		}
		r.pass(5 * time.Minute) // the watchdog keeps those
		r.goesOn(dead)
		_ = b.Close()
		began = time.Now()
		must(0, must(s.Acquire(ctx, 3))(r).Release(ctx))(r)
		if took := since(began); took > 31*time.Second {
			t.Errorf("they came back after %v", took)
		}
		if n := must(s.Available(ctx))(r); n != 3 {
			t.Errorf("%d of 3 are free", n)
		}
	})
}

// The server does nothing else while a script runs. So one script renews a limited number of the permits that are due.
func TestManyPermitsAreRenewedByManyScripts(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		var mu sync.Mutex // guards both
		most, renewed := 0, 0
		s := r.open(rlock.WithObserver(rlock.Observer{Command: func(_ context.Context, e rlock.CommandEvent) {
			mu.Lock()
			defer mu.Unlock()
			most, renewed = max(most, e.Leases), renewed+e.Leases
		}})).NewPermitSemaphore("seats")
		must(s.TrySetPermits(ctx, 2000))(r)
		var all []*rlock.Permits
		for range 5 {
			all = append(all, must(s.Acquire(ctx, 400))(r))
		}
		r.pass(11 * time.Second)
		mu.Lock()
		if most == 0 || most > 2 || renewed < len(all) {
			t.Errorf("one script renewed %d times 400 permits, all together %d of %d", most, renewed, len(all))
		}
		mu.Unlock()
		for _, p := range all {
			r.goesOn(p)
			must(0, p.Release(ctx))(r)
		}
	})
}

// numbers are those lines of a reply that are numbers.
func numbers(reply []byte) (all []int64) {
	for _, line := range regexp.MustCompile(`(?m)^\d+\r$`).FindAllString(string(reply), -1) {
		n, _ := strconv.ParseInt(line[:len(line)-1], 10, 64)
		all = append(all, n)
	}
	return all
}
