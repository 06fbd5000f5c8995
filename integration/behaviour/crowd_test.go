package behaviour_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestLocalCrowdCostsOneAttemptPerAcquisition(t *testing.T) {
	const crowd = 1000
	r, _ := own(t)
	name := r.name()
	h := r.Lock(r.open().NewLock(name))
	l := r.open().NewLock(name)
	r.Unlock(r.Lock(r.open().NewLock("warm"))) // the scripts are loaded
	before := r.Calls()["EVALSHA"]
	served := make(chan error, crowd)
	for range crowd {
		go func() {
			h, err := l.Lock(t.Context())
			if err == nil {
				err = h.Unlock(t.Context())
			}
			served <- err
		}()
	}
	r.Listeners(name, 1)
	r.Unlock(h)
	for range crowd {
		if err := testbed.Receive(r, "everybody's turn", served); err != nil {
			t.Fatal(err)
		}
	}
	// One unlock each, and the first holder's.
	attempts := r.Calls()["EVALSHA"] - before - (crowd + 1)
	perAcquisition := float64(attempts) / crowd
	t.Logf("a crowd of 1,000 local waiters: %.3f acquire attempts per acquisition", perAcquisition)
	if perAcquisition < 1 || perAcquisition > 1.2 {
		t.Errorf("%d attempts for %d acquisitions", attempts, crowd)
	}
}

// Where many clients pass a lock on quickly, most of them leave its channel for a while, or the server would be busy with
// telling all of them of each release. When somebody holds it for longer, all who wait are back on it, and the release is
// heard as ever.
func TestManyClientsInACrowdLeaveTheChannelAndComeBack(t *testing.T) {
	const clients, callers = 8, 4
	r, _ := own(t)
	name := r.name()
	ctx, cancel := context.WithCancel(t.Context())
	var pause atomic.Bool
	var entries atomic.Int64
	paused := make(chan *rlock.Hold, 1)
	var all sync.WaitGroup
	for range clients {
		c := r.open()
		for range callers {
			all.Go(func() {
				for l := c.NewLock(name); ; {
					h, err := l.Lock(ctx)
					if err != nil {
						if ctx.Err() == nil {
							t.Error(err)
						}
						return
					}
					entries.Add(1)
					if pause.CompareAndSwap(true, false) {
						paused <- h
						continue
					}
					if err := h.Unlock(ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	// The race detector and a busy machine slow these clients down, and where turns are slow nobody leaves. So others pass
	// the lock on as well, some turns at once whenever it is free.
	others := redisserver.Dial(t, r.Server)
	all.Go(func() {
		for ctx.Err() == nil {
			others.Do("EVAL", "for i=1,16 do if redis.call('exists',KEYS[1])==0 then redis.call('publish',KEYS[2],'0') end end", 2, name, testbed.Channel(name))
		}
	})
	defer all.Wait()
	defer cancel()
	r.Becomes("a crowd", func() bool { return entries.Load() > 20*clients*callers })
	// Somebody of each client waits at any time, so who leaves the channel leaves for this reason.
	began := r.Calls()["UNSUBSCRIBE"]
	r.Becomes("clients leave the channel", func() bool { return r.Calls()["UNSUBSCRIBE"] >= began+2*clients })
	for range 3 {
		pause.Store(true)
		h := testbed.Receive(r, "a hold that lasts", paused)
		// The holder's other callers wait as well.
		r.Listeners(name, clients)
		before := entries.Load()
		r.Unlock(h)
		r.Becomes("the next entry", func() bool { return entries.Load() > before })
	}
}
