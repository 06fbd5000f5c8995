package pubsub

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestConfirmationComesBeforeMessages(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	h := newHub(t, own(srv.Addr()), Options{})
	stop := make(chan struct{})
	var publisher sync.WaitGroup
	pub := srv.Dial(t)
	publisher.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				pub.Do("PUBLISH", "c", "x")
			}
		}
	})
	defer publisher.Wait()
	defer close(stop)

	first := new(recorder)
	defer h.Subscribe("c", first).Close()
	for range 200 {
		r := new(recorder)
		s := h.Subscribe("c", r)
		r.await(t, "message", 1)
		s.Close()
		if got := r.all(); got[0] != "confirmed" || r.count("confirmed") != 1 {
			t.Fatalf("got %q, want one confirmation, first", got[:min(3, len(got))])
		}
	}
}

func TestP1ChannelIsSubscribedWhileSomebodyWaits(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, srv *redistest.Server, dial DialFunc) {
		h := newHub(t, dial, Options{})
		c := srv.Dial(t)
		var subs []*Subscription
		for range 3 {
			r := new(recorder)
			subs = append(subs, h.Subscribe("c", r))
			r.await(t, "confirmed", 1)
		}
		other := new(recorder)
		h.Subscribe("d", other)
		other.await(t, "confirmed", 1)

		subs[0].Close()
		subs[0].Close() // counts only once
		subs[2].Close()
		h.Subscribe("brief", NewFlag()).Close()
		if n := numsub(t, c, "c"); n != 1 {
			t.Errorf("NUMSUB is %d, want the hub's one subscription", n)
		}
		subs[1].Close()
		await(t, "c is given up", func() bool { return h.Channels() == 1 })
		if got := subscribed(t, c); !slices.Equal(got, []string{"d"}) {
			t.Errorf("the server has %q, want d only", got)
		}
	})
}

func TestP1ThousandChannelsOnOneConnectionInOneCommand(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	gate := make(chan struct{})
	h := newHub(t, gated(gate, own(srv.Addr())), Options{})
	mon := monitor.Tap(t, srv.URL())
	const n = 1000
	rs := make([]recorder, n)
	subs := make([]*Subscription, n)
	for i := range n {
		subs[i] = h.Subscribe(fmt.Sprint("c", i), &rs[i])
	}
	close(gate)
	for i := range n {
		rs[i].await(t, "confirmed", 1)
	}
	c := srv.Dial(t)
	got := subscribers(t, c)
	if len(got) != 1 || !strings.Contains(got[0], " sub=1000 ") {
		t.Errorf("subscribed clients: %q, want one with 1000 channels", got)
	}
	commands := 0
	for _, l := range mon.Mark() {
		if strings.EqualFold(l.Args[0], "SUBSCRIBE") {
			commands++
		}
	}
	if commands != 1 {
		t.Errorf("%d SUBSCRIBEs, want one", commands)
	}
	for _, s := range subs {
		s.Close()
	}
	await(t, "all given up", func() bool { return h.Channels() == 0 })
	if got := subscribed(t, c); len(got) != 0 {
		t.Errorf("left on the server: %q", got)
	}
}

func TestSubscribeAndCloseHammered(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, srv *redistest.Server, dial DialFunc) {
		h := newHub(t, dial, Options{})
		c := srv.Dial(t)
		const channels, workers, rounds = 4, 8, 400
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for i := range rounds {
					f := NewFlag()
					s := h.Subscribe(fmt.Sprint("c", rand.N(channels)), f)
					if i%3 == 0 {
						select {
						case <-f.C():
						case <-time.After(20 * time.Second):
							t.Error("never confirmed")
						}
					}
					s.Close()
				}
			})
		}
		wg.Wait()

		rs := make([]recorder, channels)
		subs := make([]*Subscription, channels)
		for i := range rs {
			subs[i] = h.Subscribe(fmt.Sprint("c", i), &rs[i])
		}
		for i := range rs {
			rs[i].await(t, "confirmed", 1)
			if n := do(t, c, "PUBLISH", fmt.Sprint("c", i), "x").(int64); n != 1 {
				t.Errorf("confirmed, but %d receive", n)
			}
			rs[i].await(t, "message x", 1)
		}
		for _, s := range subs {
			s.Close()
		}
		await(t, "all given up", func() bool { return h.Channels() == 0 })
		if got := subscribed(t, c); len(got) != 0 {
			t.Errorf("left on the server: %q", got)
		}
	})
}

func TestWakersOfAChannelAreCalledInOrder(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	h := newHub(t, own(srv.Addr()), Options{})
	c := srv.Dial(t)
	const n = 2000
	var mu sync.Mutex
	var got, want []int
	subs := make([]*Subscription, n)
	flags := make([]*Flag, n)
	for i := range n {
		flags[i] = NewFlag()
		subs[i] = h.Subscribe("c", callback(func() {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, i)
		}, flags[i]))
	}
	for _, f := range flags {
		<-f.C()
	}
	for i := range n {
		if i%3 != 0 { // makes the list compact itself once; a second time could undo an error
			subs[i].Close()
		} else {
			want = append(want, i)
		}
	}
	last := new(recorder)
	h.Subscribe("c", last)
	last.await(t, "confirmed", 1)
	do(t, c, "PUBLISH", "c", "x")
	last.await(t, "message", 1)
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(got, want) {
		t.Errorf("%d called, want %d, or in another order", len(got), len(want))
	}
}

// callback calls f at each message; confirmations raise the flag.
func callback(f func(), confirmed *Flag) Waker { return &hook{Flag: confirmed, f: f} }

type hook struct {
	*Flag
	f func()
}

func (k *hook) Message([]byte) { k.f() }

func TestP3UnreadFlagIsOneWakeUpAndHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	h := newHub(t, own(srv.Addr()), Options{})
	c := srv.Dial(t)
	slow, quick := NewFlag(), new(recorder)
	h.Subscribe("c", slow)
	h.Subscribe("c", quick)
	quick.await(t, "confirmed", 1)
	for range 1000 {
		c.Send("PUBLISH", "c", "x")
	}
	do(t, c, "")
	quick.await(t, "message", 1000)
	wakeups := 0
	for {
		select {
		case <-slow.C():
			wakeups++
			continue
		default:
		}
		break
	}
	if wakeups != 1 {
		t.Errorf("%d wake-ups, want one", wakeups)
	}
}

// A lock's queue calls the hub with its mutex locked, and its Waker locks the same mutex.
func TestCallerMayHoldALockThatItsWakerTakes(t *testing.T) {
	srv := redistest.Start(t)
	h := newHub(t, own(srv.Addr()), Options{})
	c := srv.Dial(t)
	var mu sync.Mutex
	w := &locked{mu: &mu}
	h.Subscribe("c", new(recorder))
	for range 300 {
		c.Send("PUBLISH", "c", "x")
		c.Flush()
		mu.Lock()
		s := h.Subscribe("c", w)
		mu.Unlock()
		runtime.Gosched()
		mu.Lock()
		s.Close()
		mu.Unlock()
	}
}

type locked struct{ mu *sync.Mutex }

func (l *locked) Confirmed()     { l.mu.Lock(); defer l.mu.Unlock() }
func (l *locked) Message([]byte) { l.mu.Lock(); defer l.mu.Unlock() }
func (l *locked) Refused(error)  { l.mu.Lock(); defer l.mu.Unlock() }

func TestWakerMaySubscribeAndClose(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	h := newHub(t, own(srv.Addr()), Options{})
	c := srv.Dial(t)
	next, confirmed := new(recorder), NewFlag()
	var s atomic.Pointer[Subscription]
	s.Store(h.Subscribe("c", callback(func() {
		s.Load().Close()
		h.Subscribe("d", next)
	}, confirmed)))
	<-confirmed.C()
	do(t, c, "PUBLISH", "c", "x")
	next.await(t, "confirmed", 1)
	await(t, "c is given up", func() bool { return h.Channels() == 1 })
}
