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
	"github.com/rlock-go/redisson/rlock"
)

func redisDial(r *rig) redis.Conn { return redisserver.Dial(r.T, r.server) }

// Waiters that timed out, were interrupted or lost their connection left subscriptions, or took the last one of a
// pool that was made for them.
func TestRedisson4064And2575And4216SubscriptionsDoNotLeak(t *testing.T) {
	r := newRig(t)
	holder := r.other()
	connections := r.clients()
	for round := range 3 {
		var holds []*rlock.Hold
		var waiters []<-chan entry
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 40 {
			key := fmt.Sprint("lock ", i)
			holds = append(holds, r.lock(holder.NewLock(key), rlock.Lease(long)))
			l := r.c.NewLock(key)
			waiters = append(waiters, enter(ctx, l)) // is interrupted
			gave := make(chan entry, 1)
			waiters = append(waiters, gave)
			go func() { // times out
				h, err := l.TryLockFor(context.Background(), 300*time.Millisecond)
				gave <- entry{h, err}
			}()
		}
		r.becomes("all channels subscribed", func() bool { return len(r.subscriptions()) == 40 })
		if n := r.clients() - connections; n != 1 {
			t.Errorf("%d connections for 40 subscriptions", n)
		}
		if round == 1 {
			r.proxy.CutAll()
		}
		if round == 2 {
			for _, h := range holds {
				r.unlock(h) // some waiters enter
			}
		}
		cancel()
		for _, w := range waiters {
			if e := receive(r, "a waiter's end", w); e.err == nil {
				r.unlock(e.hold)
			} else if !errors.Is(e.err, context.Canceled) && !errors.Is(e.err, rlock.ErrLocked) && round != 1 {
				t.Error(e.err)
			}
		}
		r.becomes("nothing subscribed", func() bool { return len(r.subscriptions()) == 0 })
		for _, h := range holds {
			_ = h.Unlock(t.Context()) // in the last round it is released already
		}
		r.becomes("everything free", func() bool { return r.number("DBSIZE") == 0 })
	}
	r.becomes("no more connections than one for subscriptions", func() bool { return r.clients()-connections <= 1 })
}

// A holder whose lock was lost heard nothing of it and worked on.
func TestRedisson4178And3580And4698LossIsTold(t *testing.T) {
	for what, take := range map[string]func(r *rig){
		"deleted":            func(r *rig) { r.do("DEL", name) },
		"flushed":            func(r *rig) { r.do("FLUSHALL") },
		"expired":            func(r *rig) { r.do("PEXPIRE", name, 1) },
		"another's":          func(r *rig) { r.do("DEL", name); r.do("HSET", name, "somebody", 1) },
		"forced elsewhere":   func(r *rig) { _, _ = r.other().NewLock(name).ForceUnlock(r.Context()) },
		"server unreachable": func(r *rig) { r.proxy.Freeze(true) },
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			h := r.lock(r.c.NewLock(name))
			ctx, cancel := h.Context(t.Context())
			defer cancel()
			began := time.Now()
			take(r)
			receive(r, "the context's end", ctx.Done())
			if took := time.Since(began); took > watchdog+5*time.Second {
				t.Errorf("told after %v", took)
			}
			receive(r, "Done", h.Done())
			if !errors.Is(h.Err(), rlock.ErrLeaseLost) || !errors.Is(context.Cause(ctx), rlock.ErrLeaseLost) {
				t.Errorf("%v, %v", h.Err(), context.Cause(ctx))
			}
			r.proxy.Freeze(false)
			if err := h.Unlock(t.Context()); !errors.Is(err, rlock.ErrLeaseLost) || !errors.Is(err, rlock.ErrNotHeld) {
				t.Errorf("its unlock: %v", err)
			}
		})
		t.Run("Do, "+what, func(t *testing.T) {
			r := newRig(t)
			err := r.c.NewLock(name).Do(t.Context(), func(ctx context.Context) error {
				take(r)
				receive(r, "the context's end", ctx.Done())
				r.proxy.Freeze(false)
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
	for refusal, reply := range map[string]string{
		"unknown":                 "-ERR unknown command 'WAIT', with args beginning with: '1' '1000' \r\n",
		"forbidden":               "-NOPERM this user has no permissions to run the 'wait' command\r\n",
		"impossible on a replica": "-ERR WAIT cannot be used with replica instances.\r\n",
	} {
		t.Run(refusal, func(t *testing.T) {
			r := newRig(t)
			redisserver.Replica(t, r.server)
			waits := r.proxy.Add(faultproxy.Rule{Match: faultproxy.Command("WAIT"), Do: faultproxy.Answer, Reply: []byte(reply)})
			l := r.open("redis://"+r.proxy.Addr(), rlock.WithReplicaSync(true)).NewLock(name)
			h := r.lock(l)
			r.renewedFor(h, watchdog)
			inner := r.lock(l, rlock.As(h.Owner()))
			r.unlock(inner)
			r.unlock(h)
			if !r.free(name) {
				t.Error("still held")
			}
			if waits.Hits() == 0 {
				t.Error("no WAIT was refused")
			}
		})
	}
	t.Run("a server without replicas is sent none", func(t *testing.T) {
		r := newRig(t, rlock.WithReplicaSync(true))
		r.unlock(r.lock(r.c.NewLock(name)))
		if n := r.proxy.Count("WAIT"); n != 0 {
			t.Errorf("%d WAITs", n)
		}
	})
	t.Run("a server that refuses INFO is sent none", func(t *testing.T) {
		r := newRig(t)
		r.proxy.Add(faultproxy.Rule{Match: faultproxy.Command("INFO"), Do: faultproxy.Answer, Reply: []byte("-NOPERM no\r\n")})
		r.unlock(r.lock(r.open("redis://"+r.proxy.Addr(), rlock.WithReplicaSync(true)).NewLock(name)))
		if n := r.proxy.Count("WAIT"); n != 0 {
			t.Errorf("%d WAITs", n)
		}
	})
}
