package sentinels_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// TestReplicasThatTheSentinelsKnowAreWaitedForByANewClient: a client whose first master has no replica online counts those
// that the Sentinels know, since they may be about to replace it. Those that are down can't. If a replica says that it is a
// master, all Sentinels together know whether it was promoted, or has only left.
func TestReplicasThatTheSentinelsKnowAreWaitedForByANewClient(t *testing.T) {
	t.Parallel()
	leave := func(r *redistest.Server) error { _, err := r.Dial(t).Do("REPLICAOF", "NO", "ONE"); return err }
	for what, row := range map[string]struct {
		leaves func(*redistest.Server) error
		flag   string // what a Sentinel calls such a replica
		silent bool   // a Sentinel, which may have promoted one
		want   error
	}{
		"they left":                       {leave, "", false, nil},
		"they left, a Sentinel is silent": {leave, "", true, rlock.ErrUnreplicated},
		"they died":                       {func(r *redistest.Server) error { r.Kill(); return nil }, "s_down", false, nil},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
			set.AwaitSettled()
			for _, n := range set.Nodes {
				if n == set.Master() {
					continue
				}
				testbed.Must(t, row.leaves(n))
			}
			for _, s := range set.Sentinels {
				conn := s.Dial(t)
				testbed.BecomesWithin(t, farOff, "each Sentinel knows", func() bool {
					replicas, err := redis.Values(conn.Do("SENTINEL", "REPLICAS", redistest.MasterName))
					marked := 0
					for _, r := range replicas {
						if m, err := redis.StringMap(r, nil); err == nil && strings.Contains(m["flags"], row.flag) {
							marked++
						}
					}
					return err == nil && marked == len(set.Nodes)-1
				})
			}
			if row.silent {
				set.Sentinels[2].Kill()
			}
			_, err := testbed.Open(t, set.URL()).NewLock("orders").TryLock(t.Context())
			if !errors.Is(err, row.want) {
				t.Errorf("got %v, want %v", err, row.want)
			}
			stats, err := redis.String(set.Master().Dial(t).Do("INFO", "commandstats"))
			testbed.Must(t, err)
			// A grant increments the count, and one that is given back decrements it again. That a replica has left is
			// known once its acknowledgement was waited for.
			if once := strings.Contains(stats, "cmdstat_hincrby:calls=1,"); once != (row.flag == "s_down") {
				t.Errorf("granted at once: %v", once)
			}
		})
	}
}

// TestNobodyEntersWhileTheReplicasAndMostSentinelsAreGone: the silent Sentinels may have another master. A client that
// starts then has never seen the replicas.
func TestNobodyEntersWhileTheReplicasAndMostSentinelsAreGone(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	old := testbed.Open(t, set.URL())
	unlock(t, lock(t, old.NewLock("orders")))
	master, left := set.Master(), set.Sentinels[2]
	for _, s := range append(set.Sentinels[:2:2], set.Nodes...) {
		if s != master {
			s.Kill()
		}
	}
	conn := left.Dial(t)
	testbed.BecomesWithin(t, farOff, "the last Sentinel calls the replicas down", func() bool {
		replicas, err := redis.Values(conn.Do("SENTINEL", "REPLICAS", redistest.MasterName))
		for _, one := range replicas {
			about, _ := redis.StringMap(one, nil)
			if !strings.Contains(about["flags"], "s_down") {
				return false
			}
		}
		return err == nil && len(replicas) == 2
	})
	clients := []*rlock.Client{old, testbed.Open(t, set.URL())}
	for i, c := range clients {
		_, err := c.NewLock("orders").Lock(t.Context())
		if !errors.Is(err, rlock.ErrUnreplicated) || !strings.Contains(err.Error(), "1 of 3 Sentinels") {
			t.Errorf("client %d: %v", i, err)
		}
	}
	set.Sentinels[0].Restart()
	for _, c := range clients {
		testbed.BecomesWithin(t, farOff, "entered by the word of two", func() bool {
			h, err := c.NewLock("orders").TryLock(t.Context())
			return err == nil && h.Unlock(t.Context()) == nil
		})
	}
}
