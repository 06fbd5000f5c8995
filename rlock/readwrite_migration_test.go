package rlock_test

import (
	"net"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// renewed waits until all holds were renewed twice.
func renewed(t *testing.T, holds ...*rlock.Hold) {
	t.Helper()
	for range 2 {
		areRenewed(t, holds...)
	}
}

// All keys of the read holds are on one server, or move together. For a name without braces the holds' keys have
// braces that the lock's key lacks.
func TestReadHoldsAreRenewedWhereTheirKeysAre(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	for what, name := range map[string]func(g *splitRig) string{
		"without braces": func(g *splitRig) string { return g.tag[1 : len(g.tag)-1] },
		"with a tag":     func(g *splitRig) string { return g.tag + "doc" },
	} {
		beside.Run(t, what, func(t *testing.T) {
			g := startSplit(t)
			rw := openCluster(t, g.s, rlock.WithWatchdogTimeout(4500*time.Millisecond)).NewReadWriteLock(name(g))
			outer := held(t, rw.ReadLock())
			inner, err := rw.ReadLock().Lock(t.Context(), rlock.As(outer.Owner()))
			if err != nil {
				t.Fatal(err)
			}
			other := held(t, rw.ReadLock())
			g.begin(0)
			renewed(t, outer, inner, other)
			if n := g.tryAgain(); n > 0 {
				t.Errorf("%d renewals named a key that is not there", n)
			}
			const all = 1 + 3 // the lock, and a key for each hold
			if n := g.s.MoveKeys(g.slot, 0, 1, 100); n != all {
				t.Fatalf("%d keys, want %d", n, all)
			}
			renewed(t, outer, inner, other)
			g.settle()
			renewed(t, outer, inner, other)
			for _, h := range []*rlock.Hold{other, inner, outer} {
				if err := h.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if g.there(outer.Name()) {
				t.Error("it is there")
			}
		})
	}
}

// The lock has moved, and its holds' keys follow. A key that a renewal made at the second server could not be
// moved.
func TestRenewalMakesNoKey(t *testing.T) {
	t.Parallel()
	g := startSplit(t)
	rw := openCluster(t, g.s, rlock.WithWatchdogTimeout(6*time.Second)).NewReadWriteLock(g.tag + "doc")
	holds := []*rlock.Hold{held(t, rw.ReadLock()), held(t, rw.ReadLock())}
	g.begin(0)
	host, port, _ := net.SplitHostPort(g.s.Servers[1].Addr())
	if _, err := g.s.Conn(0).Do("MIGRATE", host, port, g.tag+"doc", 0, 5000); err != nil {
		t.Fatal(err)
	}
	before := g.tryAgain()
	becomes(t, "a renewal finds keys in two places", func() bool { return g.tryAgain() >= before+2 })
	g.settle() // fails for a key that is there already
	renewed(t, holds...)
}
