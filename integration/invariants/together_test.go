package invariants

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/faultproxy"
)

func TestP1OneSubscriptionConnectionForAllWaiters(t *testing.T) {
	r := newRig(t)
	c := r.open()
	ctx, cancel := context.WithCancel(t.Context())
	const names, each = 30, 3
	var waiting []<-chan result
	for i := range names {
		key := fmt.Sprint(name, i)
		r.occupy(key)
		for range each {
			waiting = append(waiting, locking(ctx, c.NewLock(key)))
		}
	}
	r.becomes("all names are listened to", func() bool { return len(r.channels()) == names })
	if n := r.clients(); n != 3 {
		t.Errorf("%d connections on the server, want one for commands, one for subscriptions and the test's", n)
	}
	list, _ := redis.String(r.do("CLIENT", "LIST"), nil)
	if n := strings.Count(list, " sub="+fmt.Sprint(names)+" "); n != 1 {
		t.Errorf("%d connections with all subscriptions in:\n%s", n, list)
	}
	subscribed := 0
	for _, e := range r.proxy.Record() {
		if subscribe(e.Cmd) {
			subscribed += len(e.Cmd) - 1
		}
	}
	if subscribed != names {
		t.Errorf("%d subscriptions for %d names with %d waiters each", subscribed, names, each)
	}
	// Of a name whose waiter leaves the others go on; with the last the subscription goes.
	one, leave := context.WithCancel(t.Context())
	extra := locking(one, c.NewLock(name+"0"))
	leave()
	happens(t, "it returns", extra)
	r.subscribers(name+"0", 1)
	// They come in one after the other, in order of nothing that this test relies on.
	r.vacate(name + "0")
	in := make(chan result, each)
	for _, got := range waiting[:each] {
		go func() { in <- <-got }()
	}
	for range each {
		unlock(t, granted(t, in))
	}
	r.becomes("nobody listens to the name that nobody waits for", func() bool { return len(r.channels()) == names-1 })
	cancel()
	for _, got := range waiting[each:] {
		want(t, happens(t, "a waiter returns", got).err, context.Canceled)
	}
	r.becomes("nothing is subscribed", func() bool { return len(r.channels()) == 0 })
}

// What is published while the connection is away is gone; all its waiters look when it is back.
func TestP2AllWaitersTryAgainAfterAResubscribe(t *testing.T) {
	t.Parallel()
	for what, cut := range map[string]func(*rig){
		"killed by the server": func(r *rig) { r.do("CLIENT", "KILL", "TYPE", "pubsub") },
		"cut by the network":   func(r *rig) { r.proxy.CutAll() },
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			c := r.open()
			const names = 10
			var waiting []<-chan result
			for i := range names {
				key := fmt.Sprint(name, i)
				r.occupy(key)
				waiting = append(waiting, locking(t.Context(), c.NewLock(key)))
				r.subscribers(key, 1)
			}
			r.becomes("all tried twice", func() bool { return r.proxy.Count("EVALSHA") == 2*names })
			r.proxy.Refuse(true)
			cut(r)
			for i := range names {
				r.subscribers(fmt.Sprint(name, i), 0)
				r.vacate(fmt.Sprint(name, i)) // nobody hears it
			}
			r.proxy.Refuse(false)
			for _, got := range waiting {
				unlock(t, granted(t, got))
			}
		})
	}
}

func TestP3WakeUpIsAFlagNotAQueue(t *testing.T) {
	r := newRig(t)
	r.occupy(name)
	r.occupy("other")
	c := r.openSlow()
	got := locking(t.Context(), c.NewLock(name))
	r.answered(name, 2)
	other := locking(t.Context(), c.NewLock("other"))
	r.answered("other", 2)
	slow := r.proxy.Add(faultproxy.Rule{Match: faultproxy.All(acquires, faultproxy.Key(name)), Times: 1, Do: faultproxy.HoldReply})
	r.do("PUBLISH", channelOf(name), "0")
	happens(t, "the woken try", slow.Hit())
	const storm = 2000
	for range storm {
		r.do("PUBLISH", channelOf(name), "0")
	}
	r.becomes("all messages passed", func() bool { return r.messages() >= storm })
	r.vacate("other") // the hub delivers it behind the storm
	slow.Release()
	unlock(t, granted(t, other))
	r.vacate(name)
	unlock(t, granted(t, got))
	if n := len(r.of("acquire", name)); n > 8 {
		t.Errorf("%d tries for a storm of messages during one of them", n)
	}
}
