package behaviour_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestThousandNamesShareOneSubscriptionConnection(t *testing.T) {
	const names = 1000
	r, _ := own(t)
	holder := r.open()
	holds := make([]*rlock.Hold, names)
	for i := range holds {
		holds[i] = r.Lock(holder.NewLock(fmt.Sprint("name-", i)), rlock.Lease(patience*3))
	}
	holdersOwn := len(r.others())
	c := r.open()
	waits := make([]<-chan testbed.Entry, names)
	for i := range waits {
		waits[i] = r.enter(c.NewLock(fmt.Sprint("name-", i)))
	}
	r.Becomes("every name has its subscriber", func() bool { return len(r.Strings("PUBSUB", "CHANNELS", "redisson_*")) == names })
	connections := r.others()
	subscribed := 0
	for _, line := range connections {
		if !strings.Contains(line, " sub=0 ") {
			subscribed++
		}
	}
	ours := len(connections) - holdersOwn
	t.Logf("1,000 waiters on 1,000 names: %d connections, %d of them for subscriptions", ours, subscribed)
	if subscribed < 1 || subscribed > 2 || ours > 3 { // the holder's may hear of changes
		t.Errorf("%d connections, %d for subscriptions, want at most 3 and 1", ours, subscribed)
	}
	for _, h := range holds {
		r.Unlock(h)
	}
	for _, w := range waits {
		r.Unlock(r.Entered(w).Hold)
	}
	r.Becomes("no channel is left", func() bool { return len(r.Strings("PUBSUB", "CHANNELS")) == 0 })
}

func TestCrowdSharesOneSubscription(t *testing.T) {
	r, _ := own(t)
	name := r.name()
	h := r.Lock(r.open().NewLock(name))
	c := r.open()
	waits := make([]<-chan testbed.Entry, 50)
	for i := range waits {
		waits[i] = r.enter(c.NewLock(name))
	}
	r.Listeners(name, 1)
	r.Unlock(h)
	served := make(chan error, len(waits))
	for _, w := range waits {
		go func() {
			e := <-w
			if e.Err == nil {
				e.Err = e.Hold.Unlock(t.Context())
			}
			served <- e.Err
		}()
	}
	for range waits {
		if err := testbed.Receive(r, "everybody's turn", served); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.Calls()["SUBSCRIBE"]; n != 1 {
		t.Errorf("%d SUBSCRIBE for one crowd", n)
	}
}
