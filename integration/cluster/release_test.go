package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// TestReleasesThatTheNextMasterLacksAreSentAgain has a master die with releases that its replica never got. Leases are
// far longer than the test: what the replica has stays there unless it is released again.
func TestReleasesThatTheNextMasterLacksAreSentAgain(t *testing.T) {
	for form, waits := range map[string]bool{"nothing is acknowledged": false, "no replica acknowledges": true} {
		t.Run(form, func(t *testing.T) {
			s := topologytest.StartReplicated(t, 1, 1, 1)
			c := open(t, s, rlock.WithReplicaSync(waits), rlock.WithWatchdogTimeout(10*time.Minute))
			const names = 60
			name := func(i int) string { return fmt.Sprint("released:", i) }
			held := holdAll(t, c, names, name)
			former, replica := 0, s.Replica(0)
			if _, err := s.Conn(former).Do("SET", onFirst(s), 1); err != nil {
				t.Fatal(err)
			}
			if n, err := s.Conn(former).Do("WAIT", 1, 60_000); n != int64(1) {
				t.Fatalf("the replica lacks the holds: %v", err)
			}
			s.Servers[replica].Pause()
			if _, err := s.Conn(former).Do("CLIENT", "KILL", "TYPE", "replica"); err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for _, h := range held {
				all.Go(func() {
					if err := h.Unlock(t.Context()); err != nil && !errors.Is(err, rlock.ErrUnreplicated) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			s.Servers[former].Kill()
			s.Servers[replica].Resume()
			s.TakeOver(replica)
			entersEach(t, s, names, name)
		})
	}
}

// TestReleasesInATakeoverAreSentAgain has a replica take over from a master that lives, and answers until it hears of that.
func TestReleasesInATakeoverAreSentAgain(t *testing.T) {
	s := topologytest.StartReplicated(t, 1, 1, 1)
	c := open(t, s, rlock.WithReplicaSync(false), rlock.WithWatchdogTimeout(10*time.Minute))
	const names = 300
	name := func(i int) string { return fmt.Sprint("released:", i) }
	var all sync.WaitGroup
	held := holdAll(t, c, names, name)
	taken := make(chan struct{})
	all.Go(func() {
		for i, h := range held {
			if i == names/3 {
				close(taken)
			}
			all.Go(func() {
				if err := h.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(2 * time.Millisecond)
		}
	})
	<-taken
	s.TakeOver(s.Replica(0))
	all.Wait()
	entersEach(t, s, names, name)
}

// entersEach has another client enter each name, long before any lease ends.
func entersEach(t *testing.T, s *topologytest.Cluster, names int, name func(int) string) {
	t.Helper()
	began := time.Now()
	other := open(t, s, rlock.WithReplicaSync(false))
	var all sync.WaitGroup
	for i := range names {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := other.NewLock(name(i)).Do(ctx, func(context.Context) error { return nil }); err != nil {
				t.Errorf("%s: %v", name(i), err)
			}
		})
	}
	all.Wait()
	t.Logf("each of %d names was entered %v after the next master was known", names, time.Since(began))
}

// onFirst is a key that the first master has.
func onFirst(s *topologytest.Cluster) string {
	for i := 0; ; i++ {
		if key := fmt.Sprint("behind:", i); s.Has(0, codec.Slot(key)) {
			return key
		}
	}
}
