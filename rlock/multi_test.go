package rlock

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

// trio is a multi-lock of three kinds on two servers. Its members' handles are in the order in which they are acquired.
type trio struct {
	*MultiLock
	members []*Lock
	servers [2]*redistest.Server // the first member's, and the others'
	keys    []redis.Conn         // where each member's key is
}

func newTrio(t *testing.T, opts ...Option) (m trio, others []*Lock) {
	t.Helper()
	s, s2 := redistest.Start(t), redistest.Start(t)
	if s.Addr() > s2.Addr() {
		s, s2 = s2, s
	}
	c, c2, o, o2 := open(t, s, opts...), open(t, s2, opts...), open(t, s), open(t, s2)
	m.members = []*Lock{c.NewLock("account"), c2.NewFencedLock("stock"), c2.NewReadWriteLock("tariffs").WriteLock()}
	m.MultiLock = NewMultiLock(m.members...)
	m.servers = [2]*redistest.Server{s, s2}
	m.keys = []redis.Conn{s.Dial(t), s2.Dial(t), s2.Dial(t)}
	return m, []*Lock{o.NewLock("account"), o2.NewFencedLock("stock"), o2.NewReadWriteLock("tariffs").WriteLock()}
}

func (m trio) held(t *testing.T, want ...bool) {
	t.Helper()
	for i, l := range m.members {
		if held, err := l.IsLocked(t.Context()); err != nil || held != want[i] {
			t.Errorf("%s is locked: %t, %v; want %t", l.Name(), held, err, want[i])
		}
	}
}

// multiUnlocked releases all of h's members.
func multiUnlocked(t *testing.T, h *MultiHold) {
	t.Helper()
	if err := h.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case <-h.Done():
	default:
		t.Error("it is released, and not done")
	}
	if err := h.Err(); !errors.Is(err, ErrReleased) {
		t.Error(err)
	}
}

func TestMultiLockHoldsAllMembersOrNone(t *testing.T) {
	t.Parallel()
	m, others := newTrio(t)
	h, err := m.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m.held(t, true, true, true)
	for _, l := range others {
		if _, err := l.TryLock(t.Context()); !errors.Is(err, ErrLocked) {
			t.Errorf("%s: %v", l.Name(), err)
		}
	}
	if err := h.Err(); err != nil {
		t.Errorf("%v, valid until %v", err, h.ValidUntil())
	}
	if token := h.Holds()[1].Token(); token != 1 {
		t.Errorf("token %d", token)
	}
	multiUnlocked(t, h)
	m.held(t, false, false, false)
	if err := h.Unlock(t.Context()); !errors.Is(err, ErrReleased) {
		t.Errorf("a second Unlock: %v", err)
	}

	for i, l := range others {
		taken := lockOf(t, l)
		if _, err := m.TryLock(t.Context()); !errors.Is(err, ErrLocked) {
			t.Errorf("%s is taken: %v", l.Name(), err)
		}
		if _, err := m.Lock(t.Context(), Wait(time.Second)); !errors.Is(err, ErrLocked) {
			t.Errorf("%s is taken: %v", l.Name(), err)
		}
		want := make([]bool, 3)
		want[i] = true
		m.held(t, want...)
		mustUnlock(t, taken)
	}
}

func TestMultiHoldEndsWithItsFirstMember(t *testing.T) {
	t.Parallel()
	m, others := newTrio(t, WithWatchdogTimeout(soon))
	h, err := m.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := h.Context(t.Context())
	defer cancel()
	if _, err := m.keys[1].Do("DEL", "stock"); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	<-h.Done()
	if err := h.Err(); !errors.Is(err, ErrLeaseLost) || !errors.Is(context.Cause(ctx), ErrLeaseLost) {
		t.Errorf("%v, %v", err, context.Cause(ctx))
	}
	m.held(t, true, false, true)
	taken := lockOf(t, others[1])
	err = h.Unlock(t.Context())
	if !errors.Is(err, ErrLeaseLost) || !errors.Is(err, ErrNotHeld) || errors.Is(err, ErrReleased) {
		t.Error(err)
	}
	m.held(t, false, true, false)
	mustUnlock(t, taken)
}

func TestMultiHoldIsValidUntilItsFirstMemberEnds(t *testing.T) {
	t.Parallel()
	m, _ := newTrio(t)
	h, err := m.Lock(t.Context(), Lease(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for i, one := range h.Holds() {
		lease := time.Duration(30-10*i) * time.Minute // each is shorter than the one before
		if err := one.Extend(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		if left := time.Until(h.ValidUntil()); left > lease || left < lease-5*time.Minute {
			t.Errorf("valid for %v, though member %d has %v", left, i, lease)
		}
	}
	if err := h.Holds()[2].Extend(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if left := time.Until(h.ValidUntil()); left > 20*time.Minute || left < 15*time.Minute {
		t.Errorf("valid for %v, though the second has 20 minutes", left)
	}
	multiUnlocked(t, h)
}

func TestMultiLockReentersAsAnOwner(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.Start(t))
	rw := c.NewReadWriteLock("prices")
	both, o := NewMultiLock(rw.WriteLock(), rw.ReadLock(), c.NewLock("stock")), c.NewOwner()
	if _, err := both.Lock(t.Context()); !errors.Is(err, ErrInvalidOption) {
		t.Errorf("as two owners: %v", err)
	}
	var holds []*MultiHold
	for range 2 {
		h, err := both.TryLock(t.Context(), As(o))
		if err != nil {
			t.Fatal(err)
		}
		holds = append(holds, h)
	}
	counts(t, c.NewLock("stock"), o, 2)
	for _, h := range holds {
		multiUnlocked(t, h)
	}
	counts(t, c.NewLock("stock"), o, 0)
}

func TestMultiLockRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.Start(t))
	l := c.NewLock("stock")
	for what, m := range map[string]*MultiLock{
		"zero": {}, "no locks": NewMultiLock(), "nil": NewMultiLock(l, nil), "zero lock": NewMultiLock(l, new(Lock)),
		"twice": NewMultiLock(l, c.NewFencedLock("stock")),
	} {
		if _, err := m.TryLock(t.Context()); !errors.Is(err, ErrInvalidOption) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := NewMultiLock(l, c.NewLock("")).TryLock(t.Context()); !errors.Is(err, ErrInvalidName) {
		t.Errorf("a name that is wrong: %v", err)
	}
	one := NewMultiLock(l)
	for what, opts := range map[string][]AcquireOption{
		"Wait with TryLock": {Wait(1)}, "Lease and MaxHold": {Lease(time.Second), MaxHold(time.Second)}, "nil": {nil},
	} {
		if _, err := one.TryLock(t.Context(), opts...); !errors.Is(err, ErrInvalidOption) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if held, err := l.IsLocked(t.Context()); held || err != nil {
		t.Errorf("something was sent: %t, %v", held, err)
	}
	h, err := one.Lock(t.Context(), Lease(math.MaxInt64))
	if err == nil {
		multiUnlocked(t, h)
	} else if !errors.Is(err, ErrInvalidOption) && !errors.Is(err, ErrRefused) {
		t.Errorf("the longest lease: %v", err)
	}
}

// What the member that is acquired last can't do is refused before the first is acquired.
func TestMultiLockRefusesBeforeItSends(t *testing.T) {
	t.Parallel()
	m, _ := newTrio(t)
	h := lockOf(t, m.members[1])
	client, _, _ := strings.Cut(h.Owner().String(), ":")
	mustUnlock(t, h)
	strange, err := ParseOwner(client + ":1000")
	if err != nil {
		t.Fatal(err)
	}
	for what, option := range map[string]AcquireOption{"a write lock": AtLeast(time.Minute), "an owner that its client never made": As(strange)} {
		if _, err := m.TryLock(t.Context(), option); !errors.Is(err, ErrInvalidOption) {
			t.Errorf("%s: %v", what, err)
		}
	}
	stats, err := redis.String(m.keys[0].Do("INFO", "commandstats"))
	if err != nil || strings.Contains(stats, "evalsha") {
		t.Errorf("something was sent: %v\n%s", err, stats)
	}
}

// E1: Close of one member's client ends the rounds, and the multi-lock releases what it holds by other clients.
func TestMultiLockEndsWithAMembersClient(t *testing.T) {
	t.Parallel()
	s, s2 := redistest.Start(t), redistest.Start(t)
	c, other := open(t, s), open(t, s2).NewLock("stock")
	m := NewMultiLock(other, c.NewLock("account"))
	taken := lockOf(t, open(t, s).NewLock("account"))
	passed := make(chan error, 1)
	go func() { passed <- m.Do(context.Background(), func(context.Context) error { return nil }) }()
	awaitQueued(t, m.members[1], 1)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := ended(t, passed); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if held, err := other.IsLocked(t.Context()); held || err != nil {
		t.Errorf("the other member is locked: %t, %v", held, err)
	}
	mustUnlock(t, taken)
}

func TestMultiLockOverTheMastersOfACluster(t *testing.T) {
	t.Parallel()
	s := topologytest.Start(t, 1, 1, 1)
	c, err := Open(t.Context(), s.ClusterURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	var all []*Lock
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		all = append(all, c.NewLock(name))
	}
	h, err := NewMultiLock(all...).Lock(t.Context(), Lease(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if held, err := l.IsLocked(t.Context()); !held || err != nil {
			t.Errorf("%s: %t, %v", l.Name(), held, err)
		}
	}
	multiUnlocked(t, h)
}

// Two processes that call the servers by different names acquire the members in the same order.
func TestMembersAreSortedByKeyWhateverTheServersAreCalled(t *testing.T) {
	t.Parallel()
	s, s2 := redistest.Start(t), redistest.Start(t)
	for _, hosts := range [][2]string{{"127.0.0.1", "localhost"}, {"localhost", "127.0.0.1"}} {
		var locks []*Lock
		for i, server := range []*redistest.Server{s, s2} {
			c, err := Open(t.Context(), strings.Replace(server.URL(), "127.0.0.1", hosts[i], 1))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			locks = append(locks, c.NewLock([]string{"stock", "account"}[i]))
		}
		if order := NewMultiLock(locks...).order(); order[0] != 1 || order[1] != 0 {
			t.Errorf("by %q they are acquired in the order %v", hosts, order)
		}
	}
}
