package behaviour_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// moving is a master whose replica will be promoted, and the address be led there. The rig's connection is to the replica.
type moving struct {
	*rig
	former       *rig // at the master
	master, next *redisserver.LocalServer
}

func newMoving(t *testing.T) *moving {
	t.Helper()
	master := redisserver.Local(t)
	next := redisserver.Replica(t, master)
	return &moving{on(t, next), on(t, master), master, next}
}

// promoted makes the replica a master, without the keys that are named: they did not reach it. The former master goes on.
func (m *moving) promoted(lacks ...string) {
	m.Helper()
	const offset = "master_repl_offset"
	m.Becomes("the replica has everything", func() bool {
		return m.Info("replication", offset) == m.former.Info("replication", offset)
	})
	m.Do("REPLICAOF", "NO", "ONE")
	for _, name := range lacks {
		if m.Number("DEL", name) != 1 {
			m.Fatalf("%s did not reach the replica", name)
		}
	}
}

// goesOn checks, at the promoted replica, that a hold is renewed after a time, and that its waiter enters behind it.
func (m *moving) goesOn(h *rlock.Hold, before time.Time, waiter <-chan testbed.Entry) {
	m.Helper()
	m.Becomes("the hold is renewed there", func() bool { return h.ValidUntil().After(before) })
	testbed.Must(m, h.Err())
	m.outside(waiter)
	m.Unlock(h)
	m.Unlock(m.Entered(waiter).Hold)
}

// A hosted service has one address for its master. When it leads elsewhere, open connections stay with the former master
// unless that has ended, and nobody tells the client.
func TestAddressThatLeadsToThePromotedReplica(t *testing.T) {
	for what, leaves := range map[string]func(m *moving){
		"the former master follows": func(m *moving) {
			host, port, _ := net.SplitHostPort(m.next.Addr())
			m.former.Do("REPLICAOF", host, port)
		},
		"the former master is gone":          func(m *moving) { m.master.Kill() },
		"the former master says nothing now": func(m *moving) { m.master.Pause() },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := newMoving(t)
			proxy := faultproxy.Start(t, m.master.Addr())
			c := m.Open("redis://"+proxy.Addr(), rlock.WithCommandTimeout(2*time.Second), rlock.WithWatchdogTimeout(20*time.Second))
			kept, lost := m.Lock(c.NewLock(m.name())), m.Lock(c.NewLock(m.name()))
			waiter := m.enter(m.Open("redis://" + proxy.Addr()).NewLock(kept.Name()))
			m.former.Listeners(kept.Name(), 1)

			m.promoted(lost.Name())
			before := kept.ValidUntil()
			leaves(m)
			proxy.Move(m.next.Addr())
			testbed.Receive(t, "the loss of what the promoted replica lacks", lost.Done())
			wants(t, lost.Err(), rlock.ErrLeaseLost)
			m.goesOn(kept, before, waiter)
		})
	}
}

// No connection breaks here, and the former master goes on to take writes: only the name says that it is not meant.
func TestNameThatGetsAnotherAddress(t *testing.T) {
	t.Parallel()
	m := newMoving(t)
	first := faultproxy.Start(t, m.master.Addr())
	_, port, _ := net.SplitHostPort(first.Addr())
	faultproxy.StartAt(t, net.JoinHostPort("127.0.0.2", port), m.next.Addr())
	var leads atomic.Pointer[netip.Addr]
	address := func(s string) { a := netip.MustParseAddr(s); leads.Store(&a) }
	address("127.0.0.1")
	resolves(t, &leads)
	url := "redis://" + net.JoinHostPort("moves.test", port)
	h := m.Lock(m.Open(url, rlock.WithWatchdogTimeout(20*time.Second)).NewLock(m.name()))
	waiter := m.enter(m.Open(url).NewLock(h.Name()))
	m.former.Listeners(h.Name(), 1)

	m.promoted()
	before := h.ValidUntil()
	address("127.0.0.2")
	m.former.Becomes("no connection stays with the former master", func() bool {
		return len(m.former.names("normal"))+len(m.former.names("pubsub")) == 0
	})
	m.Listeners(h.Name(), 1)
	m.goesOn(h, before, waiter)
}

// nameServer is the address that this process asks for names which are not in a file; nil: that of the system.
var nameServer atomic.Pointer[string]

// Each dial reads the resolver, so it must not change while tests run.
func init() {
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if own := nameServer.Load(); own != nil {
			network, address = "udp4", *own
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
}

// resolves has this process's resolver say that every name leads to an address, until the test ends.
func resolves(t *testing.T, leads *atomic.Pointer[netip.Addr]) {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	testbed.Must(t, err)
	var done sync.WaitGroup
	done.Go(func() {
		for b := make([]byte, 512); ; {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(answer(b[:n], *leads.Load()), from) // a resolver without an answer asks again
		}
	})
	nameServer.Store(new(conn.LocalAddr().String()))
	t.Cleanup(func() {
		nameServer.Store(nil)
		conn.Close()
		done.Wait()
	})
}

// answer is the reply to one question (RFC 1035, section 4): the address, if it asks for one of IPv4.
func answer(question []byte, address netip.Addr) []byte {
	const header, typeA, classIN = 12, 1, 1
	end := header
	for question[end] != 0 {
		end += 1 + int(question[end])
	}
	end += 1 + 4
	isA := binary.BigEndian.Uint16(question[end-4:]) == typeA
	b := append([]byte(nil), question[:end]...)
	copy(b[2:header], []byte{0x85, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}) // authoritative, recursion available, one question
	if isA {
		b[7] = 1 // answer: the name as in the question, for 0 s
		for _, n := range []uint16{0xc000 | header, typeA, classIN, 0, 0, 4} {
			b = binary.BigEndian.AppendUint16(b, n)
		}
		b = append(b, address.AsSlice()...)
	}
	return b
}
