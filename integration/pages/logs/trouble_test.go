package logs_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// outage has a server that disappears while a client waits, and comes back.
func outage(t *testing.T, s redisserver.Server) []*rig {
	r := start(t, s, "")
	l := r.lock()
	r.Do("HSET", l.Name(), r.client.NewOwner().String(), 1)
	r.Do("PEXPIRE", l.Name(), time.Minute.Milliseconds())
	ctx, cancel := context.WithCancel(r.Context())
	waiter := testbed.Enter(ctx, l)
	r.logged("connected", "connection", "subscriptions")
	r.tried(2)
	// This call's reply comes after the reply to that try, so then no command is open.
	if locked, err := l.IsLocked(r.Context()); !locked || err != nil {
		t.Fatal(locked, err)
	}
	r.Proxy.Refuse(true)
	r.Proxy.CutAll()
	r.logged("idle connection ended", "connection", "commands")
	r.logged("connection lost", "connection", "subscriptions", "channels", "1")
	r.logged("cannot connect", "connection", "subscriptions")
	if _, err := r.lock().TryLock(r.Context()); err == nil {
		t.Error("acquired from nobody")
	}
	warned := r.logged("cannot connect", "connection", "commands")
	if warned.level != slog.LevelWarn {
		t.Errorf("the outage begins at level %v", warned.level)
	}
	r.Proxy.Refuse(false)
	r.logged("reconnected", "connection", "subscriptions")
	r.Unlock(r.Hold(r.lock())) // before its key is tracked, which needs the subscription connection
	if down := r.logged("reconnected", "connection", "commands").attrs["down"].Duration(); down <= 0 || down > patience {
		t.Errorf("down for %v", down)
	}
	warnings := map[string]int{}
	for _, l := range r.seen.of("cannot connect")[slog.LevelWarn] {
		warnings[l.text("connection")]++
	}
	if warnings["commands"] != 1 || warnings["subscriptions"] != 1 {
		t.Errorf("warnings of one outage: %v", warnings)
	}
	cancel()
	testbed.Receive(r, "the end of the wait", waiter)
	// The connection counts as needed until the server has confirmed the UNSUBSCRIBE.
	r.Becomes("the idle subscription connection ended", func() bool {
		r.Proxy.CutAll()
		for _, l := range r.seen.lines() {
			if l.message == "idle connection ended" && l.text("connection") == "subscriptions" {
				return true
			}
		}
		ctx, cancel := context.WithCancel(r.Context())
		waiter := testbed.Enter(ctx, l)
		r.Listeners(l.Name(), 1)
		cancel()
		testbed.Receive(r, "the end of the wait", waiter)
		r.Listeners(l.Name(), 0)
		return false
	})
	return []*rig{r}
}

// lostAcquire has an acquire that is lost twice and whose caller leaves, so that it is undone.
func lostAcquire(t *testing.T, s redisserver.Server) []*rig {
	r := start(t, s, "")
	r.leaves(r.lock())
	r.logged("connection lost", "connection", "commands", "unanswered", "1")
	r.logged("acquire undone", "ran", "true")
	l := r.lock()
	h := r.Hold(l)
	r.logged("acquired", "lock", l.Name(), "owner", h.Owner().String(), "attempts", "1")
	if r.logged("reconnected", "connection", "commands").attrs["conn_id"].Int64() <= r.logged("connected", "connection", "commands").attrs["conn_id"].Int64() {
		t.Error("the new connection has no id of its own")
	}
	return []*rig{r}
}

// leaves loses an acquire and its repetition, whose caller leaves meanwhile.
func (r *rig) leaves(l *rlock.Lock) {
	r.Helper()
	r.onLock(faultproxy.CutAfter, 1)
	repeated := r.Proxy.Add(faultproxy.Rule{Match: testbed.Repetitions, Times: 1, Do: faultproxy.HoldReply})
	ctx, cancel := context.WithCancel(r.Context())
	got := testbed.Enter(ctx, l)
	testbed.Receive(r, "the repetition", repeated.Hit())
	cancel()
	testbed.Receive(r, "Lock returns", got)
	r.Proxy.CutAll()
}

// undoRefused has an undo that the server refuses.
func undoRefused(t *testing.T, s redisserver.Server) []*rig {
	r := start(t, s, "")
	r.refusing(testbed.Unlocks, "NOPERM no")
	l := r.lock()
	r.leaves(l)
	r.logged("undo failed", "lock", l.Name(), "error", "NOPERM no")
	return []*rig{r}
}

// moved has a server that says that it is no longer the master.
func moved(t *testing.T, s redisserver.Server) []*rig {
	r := start(t, s, "")
	r.refusing(testbed.Acquires, "READONLY You can't write against a read only replica.")
	if _, err := r.lock().TryLock(r.Context()); err == nil {
		t.Error("acquired from a replica")
	}
	r.logged("connection given up", "connection", "commands")
	return []*rig{r}
}

// foreignOwner has a lost re-entry that only its owner's own client could decide.
func foreignOwner(t *testing.T, s redisserver.Server) []*rig {
	r := start(t, s, "")
	o := start(t, s, "").client.NewOwner()
	l := r.lock()
	r.Do("HSET", l.Name(), o.String(), 1)
	r.Do("PEXPIRE", l.Name(), time.Minute.Milliseconds())
	r.onLock(faultproxy.CutAfter, 1)
	if _, err := l.TryLock(r.Context(), rlock.As(o)); !errors.Is(err, rlock.ErrUncertain) {
		t.Errorf("%v", err)
	}
	r.logged("re-entry undecided", "lock", l.Name(), "owner", o.String())
	return []*rig{r}
}

// lateGrant has a grant that comes after its caller has left.
func lateGrant(t *testing.T, s redisserver.Server) []*rig {
	r := start(t, s, "")
	for _, refused := range []bool{false, true} {
		if refused {
			r.refusing(testbed.Unlocks, "NOPERM no")
		}
		held := r.onLock(faultproxy.HoldReply, 1)
		l := r.lock()
		ctx, cancel := context.WithCancel(r.Context())
		waiter := testbed.Enter(ctx, l)
		r.Hit(held)
		cancel()
		testbed.Receive(r, "the end of the wait", waiter)
		held.Release()
		if refused {
			r.logged("give-back failed", "lock", l.Name(), "error", "NOPERM no")
		} else {
			r.logged("given back", "lock", l.Name())
		}
	}
	return []*rig{r}
}

// lateChange has a change that is refused after its caller has left.
func lateChange(t *testing.T, s redisserver.Server) []*rig {
	r := start(t, s, "")
	seats := r.client.NewSemaphore(r.lock().Name())
	if _, err := seats.TrySetPermits(r.Context(), 1); err != nil {
		t.Fatal(err)
	}
	refused := r.refusing(faultproxy.Script(luasrc.SemaphoreChangeScript.SHA1), "LOADING Redis is loading the dataset in memory")
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	if err := seats.Release(ctx, 1); err == nil {
		t.Error("released by a refusal")
	}
	r.refusing(faultproxy.Script(luasrc.SemaphoreChangeScript.SHA1), "NOPERM no")
	refused.Remove()
	r.logged("change failed", "lock", seats.Name(), "error", "NOPERM no")
	return []*rig{r}
}

// unlocks has unlocks that are refused or not answered.
func unlocks(t *testing.T, s redisserver.Server) []*rig {
	r := start(t, s, "")
	l := r.lock()
	h := r.Hold(l)
	refused := r.refusing(testbed.Unlocks, "NOPERM no")
	if err := h.Unlock(r.Context()); err == nil {
		t.Error("released by a refusal")
	}
	r.logged("unlock failed", "lock", l.Name(), "owner", h.Owner().String(), "error", "NOPERM no")
	for range 12 {
		if err := r.Hold(r.lock()).Unlock(r.Context()); err == nil {
			t.Error("released by a refusal")
		}
	}
	refused.Remove()

	l = r.lock()
	h = r.Hold(l)
	for _, owner := range r.Strings("HKEYS", l.Name()) {
		r.Do("HINCRBY", l.Name(), owner, 1)
	}
	if err := h.Unlock(r.Context()); err != nil {
		t.Error(err)
	}
	r.logged("owner used elsewhere", "lock", l.Name(), "owner", h.Owner().String())
	r.Do("DEL", l.Name())

	l = r.lock()
	h = r.Hold(l)
	silent := r.onUnlock(faultproxy.HoldReply)
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	if err := h.Unlock(ctx); !errors.Is(err, rlock.ErrUncertain) {
		t.Errorf("%v", err)
	}
	r.logged("unlock uncertain", "lock", l.Name(), "owner", h.Owner().String())
	silent.Remove()
	silent.Release()
	return []*rig{r}
}

// unfenced has servers that refuse CLIENT KILL or even CLIENT ID.
func unfenced(t *testing.T, s redisserver.Server) []*rig {
	var rigs []*rig
	for user, rule := range map[string]string{"nokill": "-client|kill", "noid": "-client|id"} {
		conn := redisserver.Dial(t, s)
		testbed.Do(t, conn, "ACL", "SETUSER", user, "reset", "on", ">"+secret, "~*", "&*", "+@all", rule)
		r := start(t, s, user)
		rigs = append(rigs, r)
		r.onLock(faultproxy.CutAfter, 1)
		l := r.lock()
		r.Hold(l)
		refused := r.logged("kill barrier refused")
		if known := user == "nokill"; known != (refused.attrs["conn_id"].Int64() > 0) || known != (refused.text("conn_addr") != "") {
			t.Errorf("%s: %v", user, refused)
		}
		r.logged("undo repeated", "lock", l.Name(), "every", "1s", "lasting", watchdog.String())
		if user == "nokill" {
			continue
		}
		testbed.Do(t, conn, "ACL", "SETUSER", user, "-client|tracking")
		h := r.Hold(r.lock(), rlock.Lease(time.Minute))
		r.logged("losses are noticed at renewals only", "server", r.Proxy.Addr())
		r.Unlock(h)
	}
	return rigs
}

// unreplicated has a grant that no replica acknowledges, and a client that can't see the replica. The master needs no password, because of its replica.
func unreplicated(t *testing.T, _ redisserver.Server) []*rig {
	master := redisserver.Local(t)
	conn := redisserver.Dial(t, master)
	testbed.Do(t, conn, "ACL", "SETUSER", "worker", "on", ">"+secret, "~*", "&*", "+@all")
	testbed.New(t, master).LoadScripts()
	replica := redisserver.Replica(t, master)
	r := start(t, master, "worker", rlock.WithReplicaSync(true))
	replica.Pause()
	l := r.lock()
	// WAIT takes a second, so the lease must be longer.
	waiter := testbed.Enter(r.Context(), l, rlock.Lease(time.Minute))
	r.logged("grant not replicated", "lock", l.Name(), "replicas", "1")
	// By now no replica has acknowledged for longer than a command timeout.
	if e := testbed.Receive(r, "the end of the wait", waiter); e.Err == nil {
		t.Error("granted by a master without its replica")
	}
	replica.Resume()
	if r.client.Stats().ReplicasHidden {
		t.Error("the replica is hidden, and known")
	}
	testbed.Do(t, conn, "ACL", "SETUSER", "worker", "-info")
	blind := start(t, master, "worker", rlock.WithReplicaSync(true))
	blind.logged("replicas hidden", "connection", "commands", "replicas", "0")
	if !blind.client.Stats().ReplicasHidden {
		t.Error("the replica is known, and hidden")
	}
	return []*rig{r, blind}
}

// candidate has a leader's candidate that the server refuses.
func candidate(t *testing.T, s redisserver.Server) []*rig {
	r := start(t, s, "")
	l := r.lock()
	r.Do("SET", l.Name(), "text")
	ctx, cancel := context.WithCancel(r.Context())
	over := make(chan error, 1)
	go func() { over <- l.Lead(ctx, func(context.Context) error { return nil }) }()
	r.logged("cannot lead", "lock", l.Name())
	cancel()
	if err := testbed.Receive(r, "the end of Lead", over); !errors.Is(err, context.Canceled) {
		t.Errorf("Lead: %v", err)
	}
	return []*rig{r}
}
