package known

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func redisDial(r *rig) redis.Conn { return redisserver.Dial(r.T, r.server) }

// Waiters that timed out, were interrupted or lost their connection left subscriptions, or took the last one of a
// pool that was made for them.
func TestRedisson4064And2575And4216SubscriptionsDoNotLeak(t *testing.T) {
	r := newRig(t)
	holder := r.other()
	connections := r.Clients()
	for round := range 3 {
		var holds []*rlock.Hold
		var waiters []<-chan testbed.Entry
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 40 {
			key := fmt.Sprint("lock ", i)
			holds = append(holds, r.Lock(holder.NewLock(key), rlock.Lease(long)))
			l := r.c.NewLock(key)
			waiters = append(waiters, testbed.Enter(ctx, l)) // is interrupted
			gave := make(chan testbed.Entry, 1)
			waiters = append(waiters, gave)
			go func() { // times out
				h, err := l.TryLockFor(context.Background(), 300*time.Millisecond)
				gave <- testbed.Entry{Hold: h, Err: err}
			}()
		}
		r.Becomes("all channels subscribed", func() bool { return len(r.Channels()) == 40 })
		if n := r.Clients() - connections; n != 1 && n != 2 { // the holder's may hear of changes
			t.Errorf("%d connections for 40 subscriptions", n)
		}
		if round == 1 {
			r.Proxy.CutAll()
		}
		if round == 2 {
			for _, h := range holds {
				r.Unlock(h) // some waiters enter
			}
		}
		cancel()
		for _, w := range waiters {
			if e := testbed.Receive(r, "a waiter's end", w); e.Err == nil {
				r.Unlock(e.Hold)
			} else if !errors.Is(e.Err, context.Canceled) && !errors.Is(e.Err, rlock.ErrLocked) && round != 1 {
				t.Error(e.Err)
			}
		}
		r.Becomes("nothing subscribed", func() bool { return len(r.Channels()) == 0 })
		for _, h := range holds {
			_ = h.Unlock(t.Context()) // in the last round it is released already
		}
		r.Becomes("everything free", func() bool { return r.Number("DBSIZE") == 0 })
	}
	r.Becomes("no more connections than one for subscriptions", func() bool { return r.Clients()-connections <= 2 })
}

// A holder whose lock was lost heard nothing of it and worked on.
func TestRedisson4178And3580And4698LossIsTold(t *testing.T) {
	t.Parallel()
	for what, take := range map[string]func(r *rig){
		"deleted":            func(r *rig) { r.Do("DEL", name) },
		"flushed":            func(r *rig) { r.Do("FLUSHALL") },
		"expired":            func(r *rig) { r.Do("PEXPIRE", name, 1) },
		"another's":          func(r *rig) { r.Do("DEL", name); r.Do("HSET", name, "somebody", 1) },
		"forced elsewhere":   func(r *rig) { _, _ = r.other().NewLock(name).ForceUnlock(r.Context()) },
		"server unreachable": func(r *rig) { r.Proxy.Freeze(true) },
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			h := r.Lock(r.c.NewLock(name))
			ctx, cancel := h.Context(t.Context())
			defer cancel()
			began := time.Now()
			take(r)
			testbed.Receive(r, "the context's end", ctx.Done())
			if took := time.Since(began); took > watchdog+10*time.Second {
				t.Errorf("told after %v", took)
			}
			testbed.Receive(r, "Done", h.Done())
			if !errors.Is(h.Err(), rlock.ErrLeaseLost) || !errors.Is(context.Cause(ctx), rlock.ErrLeaseLost) {
				t.Errorf("%v, %v", h.Err(), context.Cause(ctx))
			}
			r.Proxy.Freeze(false)
			if err := h.Unlock(t.Context()); !errors.Is(err, rlock.ErrLeaseLost) || !errors.Is(err, rlock.ErrNotHeld) {
				t.Errorf("its unlock: %v", err)
			}
		})
		t.Run("Do, "+what, func(t *testing.T) {
			r := newRig(t)
			err := r.c.NewLock(name).Do(t.Context(), func(ctx context.Context) error {
				take(r)
				testbed.Receive(r, "the context's end", ctx.Done())
				r.Proxy.Freeze(false)
				return context.Cause(ctx)
			})
			if !errors.Is(err, rlock.ErrLeaseLost) {
				t.Error(err)
			}
		})
	}
}

// A server that refuses WAIT (a hosted one, an old one, an account without the right) made every lock fail after it
// was granted. Left for sentinel and cluster, where WAIT is the default: the same per node.
func TestRedisson5586And6775RefusedWaitDoesNotFailTheLock(t *testing.T) {
	t.Parallel()
	for refusal, reply := range map[string]string{
		"unknown":                 "-ERR unknown command 'WAIT', with args beginning with: '1' '1000' \r\n",
		"forbidden":               "-NOPERM this user has no permissions to run the 'wait' command\r\n",
		"impossible on a replica": "-ERR WAIT cannot be used with replica instances.\r\n",
	} {
		t.Run(refusal, func(t *testing.T) {
			r := newRig(t)
			redisserver.Replica(t, r.server)
			waits := r.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command("WAIT"), Do: faultproxy.Answer, Reply: []byte(reply)})
			l := r.open("redis://"+r.Proxy.Addr(), rlock.WithReplicaSync(true)).NewLock(name)
			h := r.Lock(l)
			r.renewedFor(h, beyond)
			inner := r.Lock(l, rlock.As(h.Owner()))
			r.Unlock(inner)
			r.Unlock(h)
			if !r.Free(name) {
				t.Error("still held")
			}
			if waits.Hits() == 0 {
				t.Error("no WAIT was refused")
			}
		})
	}
	t.Run("a server without replicas is sent none", func(t *testing.T) {
		r := newRig(t, rlock.WithReplicaSync(true))
		r.Unlock(r.Lock(r.c.NewLock(name)))
		if n := r.Proxy.Count("WAIT"); n != 0 {
			t.Errorf("%d WAITs", n)
		}
	})
	t.Run("a server that refuses INFO is sent none", func(t *testing.T) {
		r := newRig(t)
		r.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command("INFO"), Do: faultproxy.Answer, Reply: []byte("-NOPERM no\r\n")})
		r.Unlock(r.Lock(r.open("redis://"+r.Proxy.Addr(), rlock.WithReplicaSync(true)).NewLock(name)))
		if n := r.Proxy.Count("WAIT"); n != 0 {
			t.Errorf("%d WAITs", n)
		}
	})
}
