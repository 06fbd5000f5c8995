package invariants

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// seats is a semaphore with two permits.
func (r *rig) seats(c client) *rlock.PermitSemaphore {
	r.Helper()
	s := c.NewPermitSemaphore("seats")
	if _, err := s.TrySetPermits(r.Context(), 2); err != nil {
		r.Fatal(err)
	}
	return s
}

func (r *rig) seat(ctx context.Context, s *rlock.PermitSemaphore) *rlock.Permits {
	r.Helper()
	p, err := s.Acquire(ctx, 1)
	testbed.Must(r, err)
	return p
}

func (r *rig) free() int {
	r.Helper()
	return r.Number("GET", "seats")
}

var releasesPermits = faultproxy.Script(luasrc.PermitReleaseScript.SHA1)

// H4
func TestPermitsOutliveTheContextOfTheirAcquire(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 3 * time.Second
		seats := r.seats(r.open(rlock.WithWatchdogTimeout(lease)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		p := r.seat(ctx, seats)
		held, done := p.Context(context.Background())
		defer done()
		cancel()
		r.lives(2*lease, p, held)
		if taken := r.Number("ZCOUNT", codec.PermitTimes("seats"), time.Now().UnixMilli(), "+inf"); taken != 1 {
			t.Errorf("%d permits are taken", taken)
		}
		want(t, p.Release(context.Background()), nil)
	})
}

// H5
func TestPermitsWhoseReleaseIsRefusedAreNotRenewed(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		const lease = 9 * time.Second
		p := r.seat(t.Context(), r.seats(r.openSlow(rlock.WithWatchdogTimeout(lease))))
		released := r.refused(releasesPermits, lease, p.Release)
		renewal := faultproxy.Script(luasrc.PermitRenewScript.SHA1)
		if slices.ContainsFunc(r.Proxy.Record(), func(e faultproxy.Exchange) bool { return renewal(e.Cmd) }) {
			t.Error("renewed after the release")
		}
		if err := testbed.Receive(t, "Release returns", released); err != nil || r.free() != 2 {
			t.Errorf("%v; %d are free", err, r.free())
		}
	})
}

// R2
func TestPermitsAreReleasedThoughTheContextIsOver(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		slow := r.seats(r.openSlow())
		for _, do := range []faultproxy.Action{faultproxy.HoldReply, faultproxy.CutAfter, faultproxy.CutBefore} {
			p := r.seat(t.Context(), slow)
			r.Proxy.Add(faultproxy.Rule{Match: releasesPermits, Times: 1, Do: do, Delay: 200 * time.Millisecond})
			if err := p.Release(ctx); err != nil || r.free() != 2 {
				t.Errorf("%v: %v; %d are free", do, err, r.free())
			}
		}
		p := r.seat(t.Context(), r.seats(r.open()))
		r.server.Pause()
		began := time.Now()
		err := p.Release(ctx)
		took := time.Since(began)
		r.server.Resume()
		want(t, err, rlock.ErrUncertain)
		if took > timeout+latencies {
			t.Errorf("after %v, want about %v", took, timeout)
		}
		r.Becomes("it goes on", func() bool { return r.free() == 2 })
	})
}

// P3: all messages that arrive during one look cause one more look.
func TestStormOfMessagesIsOneLook(t *testing.T) {
	t.Parallel()
	const none, some = 0, 1
	for _, k := range []struct {
		name, channel string
		looks         faultproxy.Match
		shut, open    func(c client) error
		pass          func(c client) error
	}{{
		"permits", codec.PermitChannel(name), faultproxy.Script(luasrc.PermitAcquireScript.SHA1),
		func(c client) error { return c.NewPermitSemaphore(name).SetPermits(context.Background(), none) },
		func(c client) error { return c.NewPermitSemaphore(name).SetPermits(context.Background(), some) },
		func(c client) error {
			return c.NewPermitSemaphore(name).Do(context.Background(), 1, func(context.Context) error { return nil })
		},
	}, {
		"semaphore", codec.PermitChannel(name), faultproxy.Script(luasrc.SemaphoreAcquireScript.SHA1),
		func(c client) error {
			_, err := c.NewSemaphore(name).TrySetPermits(context.Background(), none)
			return err
		},
		func(c client) error { return c.NewSemaphore(name).AddPermits(context.Background(), some) },
		func(c client) error {
			return c.NewSemaphore(name).Do(context.Background(), 1, func(context.Context) error { return nil })
		},
	}, {
		"latch", codec.CountDownChannel(name), faultproxy.All(faultproxy.Command("GET"), faultproxy.Key(name)),
		func(c client) error {
			_, err := c.NewCountDownLatch(name).TrySetCount(context.Background(), some)
			return err
		},
		func(c client) error { return c.NewCountDownLatch(name).CountDown(context.Background()) },
		func(c client) error { return c.NewCountDownLatch(name).Await(context.Background()) },
	}} {
		t.Run(k.name, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				c := r.openSlow()
				looks := func() int { return r.Answered(k.looks) }
				want(t, k.shut(c), nil)
				r.occupy("other")
				passed := testbed.Begun(func() error { return k.pass(c) })
				r.Becomes("it waits", func() bool { return looks() >= 2 })
				other := testbed.Enter(t.Context(), c.NewLock("other"))
				r.answered("other", 2)
				slow := r.Proxy.Add(faultproxy.Rule{Match: k.looks, Times: 1, Do: faultproxy.HoldReply})
				r.Do("PUBLISH", k.channel, "1")
				testbed.Receive(t, "the look", slow.Hit())
				before, tried := looks(), len(r.of("acquire", "other"))
				const storm = 2000
				r.Do("EVAL", "for i=1,tonumber(ARGV[2]) do redis.call('publish',ARGV[1],'1') end", 0, k.channel, storm)
				r.Becomes("all messages passed", func() bool { return r.messages() >= storm })
				r.vacate("other")
				r.Becomes("nobody else waits for it", func() bool { return len(r.of("acquire", "other")) > tried })
				slow.Release()
				unlock(t, granted(t, other))
				time.Sleep(brief) // time for more looks
				err := k.open(c)
				if err = errors.Join(err, testbed.Receive(t, "it passes", passed)); err != nil {
					t.Error(err)
				}
				if n := looks() - before; n > 8 {
					t.Errorf("%d looks for a storm of messages during one of them", n)
				}
			})
		})
	}
}
