package invariants

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

func TestP1OneSubscriptionConnectionForAllWaiters(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.open()
		ctx, cancel := context.WithCancel(t.Context())
		const names, each = 30, 3
		var waiting []<-chan testbed.Entry
		for i := range names {
			key := fmt.Sprint(name, i)
			r.occupy(key)
			for range each {
				waiting = append(waiting, testbed.Enter(ctx, c.NewLock(key)))
			}
		}
		r.Becomes("all names are listened to", func() bool { return len(r.Channels()) == names*r.channels(each) })
		if n := r.Clients(); n != 2 {
			t.Errorf("%d connections on the server, want one for commands and one for subscriptions", n)
		}
		list, _ := redis.String(r.Do("CLIENT", "LIST"), nil)
		if n := strings.Count(list, " sub="+fmt.Sprint(names*r.channels(each))+" "); n != 1 {
			t.Errorf("%d connections with all subscriptions in:\n%s", n, list)
		}
		subscribed := 0
		for _, e := range r.Proxy.Record() {
			if subscribe(e.Cmd) {
				subscribed += len(e.Cmd) - 1
			}
		}
		if subscribed != names*r.channels(each) {
			t.Errorf("%d subscriptions for %d names with %d waiters each", subscribed, names, each)
		}
		// When one waiter of a name leaves, the others keep the subscription; it ends with the last.
		one, leave := context.WithCancel(t.Context())
		extra := testbed.Enter(one, c.NewLock(name+"0"))
		leave()
		testbed.Receive(t, "it returns", extra)
		r.Listeners(name+"0", r.channels(each))
		// The waiters enter one after the other, in any order.
		r.vacate(name + "0")
		in := make(chan testbed.Entry, each)
		for _, got := range waiting[:each] {
			go func() { in <- <-got }()
		}
		for range each {
			unlock(t, granted(t, in))
		}
		r.Becomes("nobody listens to the name that nobody waits for", func() bool { return len(r.Channels()) == (names-1)*r.channels(each) })
		cancel()
		for _, got := range waiting[each:] {
			want(t, testbed.Receive(t, "a waiter returns", got).Err, context.Canceled)
		}
		r.Becomes("nothing is subscribed", func() bool { return len(r.Channels()) == 0 })
	})
}

// Messages during a disconnection are lost, so all waiters try when the connection is back.
func TestP2AllWaitersTryAgainAfterAResubscribe(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*rig){
		"killed by the server": func(r *rig) { r.Do("CLIENT", "KILL", "TYPE", "pubsub") },
		"cut by the network":   func(r *rig) { r.Proxy.CutAll() },
	}, func(t *testing.T, r *rig, cut func(*rig)) {
		c := r.open()
		const names = 10
		var waiting []<-chan testbed.Entry
		for i := range names {
			key := fmt.Sprint(name, i)
			r.occupy(key)
			waiting = append(waiting, testbed.Enter(t.Context(), c.NewLock(key)))
			r.Listeners(key, 1)
		}
		r.Becomes("all tried twice", func() bool { return r.Proxy.Count("EVALSHA") == 2*names })
		r.Proxy.Refuse(true)
		cut(r)
		for i := range names {
			r.Listeners(fmt.Sprint(name, i), 0)
			r.vacate(fmt.Sprint(name, i)) // nobody gets the message
		}
		r.Proxy.Refuse(false)
		for _, got := range waiting {
			unlock(t, granted(t, got))
		}
	})
}

func TestP3WakeUpIsAFlagNotAQueue(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		r.occupy(name)
		r.occupy("other")
		c := r.openSlow()
		got := testbed.Enter(t.Context(), c.NewLock(name))
		r.answered(name, 2)
		other := testbed.Enter(t.Context(), c.NewLock("other"))
		r.answered("other", 2)
		slow := r.Proxy.Add(faultproxy.Rule{Match: faultproxy.All(acquires, faultproxy.Key(name)), Times: 1, Do: faultproxy.HoldReply})
		r.publish(name, "0")
		testbed.Receive(t, "the woken try", slow.Hit())
		const storm = 2000
		r.storm(name, "0", storm)
		r.Becomes("all messages passed", func() bool { return r.messages() >= storm })
		tried := len(r.of("acquire", "other"))
		r.vacate("other")
		r.Becomes("the hub is through with the storm", func() bool { return len(r.of("acquire", "other")) > tried })
		slow.Release()
		unlock(t, granted(t, other))
		r.vacate(name)
		unlock(t, granted(t, got))
		if n := len(r.of("acquire", name)); n > 8 {
			t.Errorf("%d tries for a storm of messages during one of them", n)
		}
	})
}
