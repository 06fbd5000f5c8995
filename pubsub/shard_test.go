package pubsub_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/pubsub"
)

// heard is a Waker that counts its calls.
type heard struct {
	confirmed, refused atomic.Int32
	mu                 sync.Mutex
	messages           []string
}

func (h *heard) Confirmed()    { h.confirmed.Add(1) }
func (h *heard) Refused(error) { h.refused.Add(1) }
func (h *heard) Message(payload []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = append(h.messages, string(payload))
}

func (h *heard) all() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.messages, " ")
}

func becomes(t testing.TB, what string, is func() bool) { t.Helper(); redistest.Becomes(t, what, is) }

// hubOf makes a hub of the first server and counts the connections that it dials.
func hubOf(t *testing.T, c *topologytest.Cluster, o pubsub.Options) (h *pubsub.Hub, dialled *atomic.Int32) {
	dialled = new(atomic.Int32)
	h = pubsub.New(func(ctx context.Context) (redis.Conn, error) {
		dialled.Add(1)
		var socket net.Conn
		conn, err := redis.DialContext(ctx, "tcp", c.Servers[0].Addr(), redis.DialContextFunc(
			func(ctx context.Context, network, addr string) (nc net.Conn, err error) {
				socket, err = new(net.Dialer).DialContext(ctx, network, addr)
				return socket, err
			}))
		if err != nil {
			return nil, err
		}
		return &dialledConn{conn, socket}, nil
	}, o)
	t.Cleanup(func() { h.Close() })
	return h, dialled
}

type dialledConn struct {
	redis.Conn
	socket net.Conn
}

func (c *dialledConn) Interrupt() { c.socket.Close() }
func (c *dialledConn) ReceiveWithTimeout(d time.Duration) (any, error) {
	return redis.ReceiveWithTimeout(c.Conn, d)
}
func (c *dialledConn) DoWithTimeout(d time.Duration, cmd string, args ...any) (any, error) {
	return redis.DoWithTimeout(c.Conn, d, cmd, args...)
}

// onFirst returns a channel whose slot the first of two servers has.
func onFirst(i int) string {
	for ; ; i += 10_000 {
		if name := fmt.Sprint("channel-", i); codec.Slot(name) < 8192 {
			return name
		}
	}
}

func send(t *testing.T, c redis.Conn, command, channel, payload string) {
	t.Helper()
	if _, err := c.Do(command, channel, payload); err != nil {
		t.Fatal(err)
	}
}

func TestShardedAndPlainChannelsOfOneNameAreApart(t *testing.T) {
	t.Parallel()
	c := topologytest.Start(t, 1, 1)
	h, dialled := hubOf(t, c, pubsub.Options{})
	name := onFirst(0)
	var plain, sharded heard
	defer h.Subscribe(name, &plain).Close()
	s := h.SubscribeSharded(name, &sharded)
	becomes(t, "both are confirmed", func() bool { return plain.confirmed.Load() == 1 && sharded.confirmed.Load() == 1 })
	send(t, c.Conn(0), "SPUBLISH", name, "s")
	send(t, c.Conn(1), "PUBLISH", name, "p") // from any server
	send(t, c.Conn(0), "SPUBLISH", name, "last")
	becomes(t, "all is heard", func() bool { return sharded.all() == "s last" && plain.all() == "p" })
	s.Close()
	becomes(t, "one is left", func() bool { return h.Channels() == 1 })
	if n := dialled.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// An SSUBSCRIBE may only have channels of one slot.
func TestShardedChannelsOfManySlotsShareAConnection(t *testing.T) {
	t.Parallel()
	c := topologytest.Start(t, 1, 1)
	h, dialled := hubOf(t, c, pubsub.Options{})
	all := make([]heard, 3000)
	var subs []*pubsub.Subscription
	for i := range all {
		subs = append(subs, h.SubscribeSharded(onFirst(i), &all[i]))
	}
	for i := range all {
		becomes(t, "it is confirmed", func() bool { return all[i].confirmed.Load() == 1 })
		send(t, c.Conn(0), "SPUBLISH", onFirst(i), fmt.Sprint(i))
		becomes(t, "its message is heard", func() bool { return all[i].all() == fmt.Sprint(i) })
	}
	for _, s := range subs {
		s.Close()
	}
	becomes(t, "nothing is left", func() bool { return h.Channels() == 0 })
	if n := dialled.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// When a slot moves, its server ends the sharded subscription and refuses it from then on. The
// hub reports that, and the other subscriptions of the connection stay.
func TestSlotThatMovesTakesItsSubscriptionOnly(t *testing.T) {
	t.Parallel()
	c := topologytest.Start(t, 1, 1)
	var lost atomic.Int32
	h, dialled := hubOf(t, c, pubsub.Options{Timeout: time.Second, SlotLost: func() { lost.Add(1) }})
	name, other := onFirst(0), onFirst(1)
	var moving, plain, staying heard
	s := h.SubscribeSharded(name, &moving)
	defer h.Subscribe(name, &plain).Close()
	defer h.SubscribeSharded(other, &staying).Close()
	becomes(t, "all are confirmed", func() bool {
		return moving.confirmed.Load() == 1 && plain.confirmed.Load() == 1 && staying.confirmed.Load() == 1
	})
	slot := codec.Slot(name)
	c.Move(0, 1, slot)
	// once when the subscription ends, and once for each refused attempt
	becomes(t, "it asked again, and was refused twice", func() bool { return lost.Load() >= 3 })
	send(t, c.Conn(1), "PUBLISH", name, "p")
	send(t, c.Conn(0), "SPUBLISH", other, "s")
	becomes(t, "the others hear", func() bool { return plain.all() == "p" && staying.all() == "s" })
	c.Move(1, 0, slot)
	becomes(t, "it is confirmed again, where its slot is again", func() bool { return moving.confirmed.Load() == 2 })
	c.Move(0, 1, slot)
	becomes(t, "it is lost again", func() bool { return lost.Load() >= 5 })
	s.Close()
	becomes(t, "two are left", func() bool { return h.Channels() == 2 })
	if n := dialled.Load(); n != 1 || plain.confirmed.Load() != 1 || staying.confirmed.Load() != 1 || moving.refused.Load() != 0 {
		t.Errorf("%d connections; the others were confirmed %d and %d times; refused: %d", n, plain.confirmed.Load(), staying.confirmed.Load(), moving.refused.Load())
	}
}

// Channels come and go while their slots move back and forth. Whichever server answers, each
// channel is confirmed in the end.
func TestShardedChannelsComeAndGoWhileSlotsMove(t *testing.T) {
	t.Parallel()
	c := topologytest.Start(t, 1, 1)
	h, _ := hubOf(t, c, pubsub.Options{Timeout: time.Second})
	var slots []uint16
	names := make([]string, 20)
	for i := range names {
		names[i] = onFirst(i)
		slots = append(slots, codec.Slot(names[i]))
	}
	stop := make(chan struct{})
	var churn sync.WaitGroup
	for _, name := range names {
		churn.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				var w heard
				s := h.SubscribeSharded(name, &w)
				time.Sleep(time.Millisecond)
				s.Close()
			}
		})
	}
	c.Move(0, 1, slots...)
	// The servers tell each other which of them has a slot, and may believe an old claim that
	// arrives late.
	time.Sleep(2 * time.Second)
	c.Move(1, 0, slots...)
	close(stop)
	churn.Wait()
	for _, name := range names {
		var w heard
		s := h.SubscribeSharded(name, &w)
		becomes(t, "it is confirmed", func() bool { return w.confirmed.Load() > 0 })
		send(t, c.Conn(0), "SPUBLISH", name, "m")
		becomes(t, "its message is heard", func() bool { return w.all() == "m" })
		s.Close()
	}
	becomes(t, "nothing is left", func() bool { return h.Channels() == 0 })
}
