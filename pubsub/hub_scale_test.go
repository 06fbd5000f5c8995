package pubsub

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

type counter struct{ confirmed, messages, refused atomic.Int64 }

func (c *counter) Confirmed()     { c.confirmed.Add(1) }
func (c *counter) Message([]byte) { c.messages.Add(1) }
func (c *counter) Refused(error)  { c.refused.Add(1) }

func TestHundredThousandChannels(t *testing.T) {
	redistest.Slow(t, "a hundred thousand channels are subscribed twice")
	srv := redistest.Start(t, "--client-output-buffer-limit", "pubsub 0 0 0")
	h := newHub(t, own(srv.Addr()), Options{Timeout: 20 * time.Second})
	c := srv.Dial(t)
	const n = 100_000
	all := new(counter)
	before := runtime.NumGoroutine()
	subs := make([]*Subscription, n)
	for i := range n {
		subs[i] = h.Subscribe(fmt.Sprint("channel:", i), all)
	}
	await(t, "confirmations", func() bool { return all.confirmed.Load() == n })
	if more := runtime.NumGoroutine() - before; more > 5 {
		t.Errorf("%d goroutines for it", more)
	}
	do(t, c, "CLIENT", "KILL", "TYPE", "pubsub")
	await(t, "P2: confirmations after the loss", func() bool { return all.confirmed.Load() == 2*n })
	for _, s := range subs {
		s.Close()
	}
	await(t, "all given up", func() bool { return h.Channels() == 0 })
	if got := subscribed(t, c); len(got) != 0 {
		t.Errorf("%d left on the server", len(got))
	}
}

// BenchmarkSubscribeConfirmClose is one wait for its own channel, on an open connection.
func BenchmarkSubscribeConfirmClose(b *testing.B) {
	srv := redistest.Start(b)
	h := newHub(b, own(srv.Addr()), Options{})
	f := NewFlag()
	names := make([]string, 4096)
	for i := range names {
		names[i] = fmt.Sprint("channel:", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s := h.Subscribe(names[i%len(names)], f)
		<-f.C()
		s.Close()
	}
}

func BenchmarkDeliver(b *testing.B) {
	for _, wakers := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(wakers), func(b *testing.B) {
			h := New(nil, Options{})
			h.start.Do(func() {}) // so it starts no goroutine
			w := new(counter)
			for range wakers {
				h.Subscribe("c", w)
			}
			h.channels[key{name: "c"}].confirmed = true
			name := []byte("c")
			b.ReportAllocs()
			for b.Loop() {
				h.deliver(name, false, nil, false)
			}
		})
	}
}
