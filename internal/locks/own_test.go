package locks

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A nested hold ends by itself, and nobody unlocks it. The owner's last unlock leaves nothing of it.
func TestR4LastUnlockLeavesNothing(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "leases end")
	s := redistest.Start(t)
	config := config()
	config.Watchdog = 9 * time.Second // what MaxHold ends at the latest
	c := openWith(t, s, config)
	const short = 300 * time.Millisecond
	for name, kinds := range map[string][2]kind.Kind{ // of the outer hold and of the nested one
		"plain": {kind.Reentrant, kind.Reentrant}, "fenced": {kind.Fenced, kind.Fenced}, "spin": {kind.Spin, kind.Spin},
		"non-reentrant": {kind.NonReentrant, kind.Reentrant}, "fair": {kind.Fair(time.Minute), kind.Fair(time.Minute)},
		"read": {kind.ReadLock, kind.ReadLock}, "write": {kind.WriteLock, kind.WriteLock}, "write and read": {kind.WriteLock, kind.ReadLock},
	} {
		for ends, nested := range map[string]Terms{"lease": {Lease: short}, "longest hold": {MaxHold: short}} {
			t.Run(name+" "+ends, func(t *testing.T) {
				t.Parallel()
				key := name + " " + ends
				outer, inner := c.NewLock(kinds[0], key, key), c.NewLock(kinds[1], key, key)
				o := c.NewOwner()
				h := acquireAs(t, &outer, Terms{As: true, Owner: o})
				nested.As, nested.Owner = true, o
				in := acquireAs(t, &inner, nested)
				<-in.Done()
				mustUnlock(t, h)
				conn := s.Dial(t)
				if n := do(t, conn, "EXISTS", key); n != int64(0) {
					t.Errorf("the key is left: %v", do(t, conn, "HGETALL", key))
				}
			})
		}
	}
}

// An unlock never ran, because there was no connection for longer than it is sent. The owner acquires and unlocks again.
func TestR4UnlockThatNeverRanLeavesNothing(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "an unlock runs into its limit")
	s := redistest.Start(t)
	o := config()
	o.Timeout = time.Second
	c := openWith(t, s, o)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	as := Terms{As: true, Owner: c.NewOwner(), Lease: 10 * time.Minute}
	h := acquireAs(t, &l, as)
	s.Pause()
	defer s.Resume()
	redistest.Becomes(t, "an attempt to connect anew fails", func() bool {
		_, _ = c.Query(t.Context(), l.slot, kind.Read("TYPE", "orders"))
		return c.exec.Trouble(l.slot) != nil
	})
	if err := Unlock(context.Background(), h); err == nil || errors.Is(err, ErrUncertain) {
		t.Fatal(err)
	}
	s.Resume()
	// On a busy machine a command may take longer than this client's timeout.
	ended := make(chan outcome, 1)
	var again *Hold
	redistest.Becomes(t, "the owner acquires again", func() bool {
		wait(t.Context(), t, &l, 0, ended, as)
		again = (<-ended).hold
		return again != nil
	})
	mustUnlock(t, again)
	becomes(t, s.Dial(t), 0, "EXISTS", "orders")
}

// The reply to an unlock is lost while another one waits behind it. Sent again, it leaves that one's hold.
func TestR4QueuedUnlocksAreCounted(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, d := openDropping(t, s)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	as := Terms{As: true, Owner: c.NewOwner()}
	outer, inner := acquireAs(t, &l, as), acquireAs(t, &l, as)
	mustUnlock(t, acquireAs(t, &l, as)) // the server has the script
	d.drop(luasrc.UnlockToScript.SHA1)
	s.Pause()
	ended := make(chan error, 2)
	for i, h := range []*Hold{inner, outer} {
		go func() { ended <- Unlock(context.Background(), h) }()
		redistest.Becomes(t, "it is under way, or waits", func() bool {
			busy, queued := outer.OwnerSnapshot()
			return busy && queued == i
		})
	}
	s.Resume()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if d.lost.Load() != 1 {
		t.Error("no reply was lost")
	}
	becomes(t, s.Dial(t), 0, "EXISTS", "orders")
}

// Within its client an owner's holds are unlocked by one command each, without a latch.
func TestR4UnlocksOfAnOwnOwnerAreOneCommandEach(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	as := Terms{As: true, Owner: c.NewOwner()}
	mustUnlock(t, acquireAs(t, &l, as))
	outer, inner := acquireAs(t, &l, as), acquireAs(t, &l, as)
	tap := monitor.Tap(t, s.URL())
	tap.Mark()
	mustUnlock(t, inner)
	mustUnlock(t, outer)
	if n := asked(tap.Mark(), luasrc.UnlockToScript); n != 2 {
		t.Errorf("%d unlocks without a latch, want 2", n)
	}
}
