package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// besides are rounds in which replicas come and go while the master stays. rlock and Redisson use separate locks at the same
// time. A returning replica gets a full copy after delay seconds, and the Sentinels call no server down within a round.
var besides = []struct {
	kind     string
	replicas int // behind Sentinels; 0: a cluster, whose masters have one each
	delay    int // repl-diskless-sync-delay
	strike   func(set *redistest.SentinelSet, gone []*redistest.Server, replicas []*redistest.Server)
}{
	{"Sentinel: a first replica comes, and is fed for 12 s", 0, 12, comes},
	{"Sentinel: the only replica goes", 1, 5, goes},
	{"Sentinel: one of two replicas goes", 2, 5, goes},
	{"Sentinel: the only replica restarts", 1, 5, restarts},
	{besideCluster, 1, 5, nil},
}

const (
	besideCluster = "Cluster: the only replica of a master goes"

	// besideLease is the lease of the standing holds.
	besideLease = 6 * time.Second
	// How long the load runs before the fault and after it.
	besideBefore, besideAfter = 3 * time.Second, 16 * time.Second
	// besideMore is how much longer than with Redisson nobody may enter.
	besideMore = 2500 * time.Millisecond
)

func comes(_ *redistest.SentinelSet, gone, _ []*redistest.Server) { gone[0].Restart() }

func goes(_ *redistest.SentinelSet, _, replicas []*redistest.Server) { replicas[0].Kill() }

func restarts(_ *redistest.SentinelSet, _, replicas []*redistest.Server) {
	replicas[0].Kill()
	time.Sleep(time.Second)
	replicas[0].Restart()
}

// side is the result of one of the two libraries.
type side struct {
	longest time.Duration // between two entries of one name
	pairs   int
	kept    bool
	failed  int
}

func (s side) String() string {
	return fmt.Sprintf("%v, %d pairs, %d failed, hold kept: %v", s.longest.Round(time.Millisecond), s.pairs, s.failed, s.kept)
}

// playBeside plays the rounds. The exit status is 1 if rlock did not keep up with Redisson.
func playBeside(only string) (status int) {
	for _, b := range besides {
		if !strings.Contains(b.kind, only) {
			continue
		}
		r := guarded(row{b.kind, b.delay}, func(t *testbed.Program) (r result) {
			var url string
			var master *redistest.Server
			var strike func()
			if b.strike == nil {
				c := topologytest.StartReplicatedFronted(t, time.Minute, nil, 1, 1, 1)
				url, master, strike = c.ClusterURL(), c.Servers[0], func() { c.Servers[c.Replica(0)].Kill() }
			} else {
				set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
				set.AllowFailover()
				url, master = set.URL(), set.Master()
				gone, replicas := reduce(t, set, b.replicas, 30*time.Second)
				strike = func() { b.strike(set, gone, replicas) }
			}
			// A replica that comes back needs a full copy: the backlog is too small for what it missed.
			for setting, value := range map[string]int{"repl-diskless-sync-delay": b.delay, "repl-backlog-size": 16 << 10} {
				if _, err := master.Dial(t).Do("CONFIG", "SET", setting, value); err != nil {
					t.Fatal(err)
				}
			}
			ours, java := beside(t, url, strike)
			fmt.Printf("%s\n  ours:     %v\n  Redisson: %v\n", b.kind, ours, java)
			if ours.longest > java.longest+besideMore || 10*ours.pairs < java.pairs || java.kept && !ours.kept {
				r.violate("ours %v, Redisson %v", ours, java)
			}
			return r
		})
		for _, w := range r.wrong {
			fmt.Println(w)
			status = 1
		}
	}
	return status
}

// reduce leaves a set with to replicas: it kills the others and makes the Sentinels forget them.
func reduce(t *testbed.Program, set *redistest.SentinelSet, to int, downAfter time.Duration) (gone, stay []*redistest.Server) {
	for _, n := range set.Nodes {
		if n == set.Master() {
			continue
		}
		if len(stay) < to {
			stay = append(stay, n)
		} else {
			gone = append(gone, n)
		}
	}
	for _, n := range gone {
		n.Kill()
	}
	for _, s := range set.Sentinels {
		conn := s.Dial(t)
		if len(gone) > 0 {
			if _, err := conn.Do("SENTINEL", "RESET", redistest.MasterName); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := conn.Do("SENTINEL", "SET", redistest.MasterName, "down-after-milliseconds", downAfter.Milliseconds()); err != nil {
			t.Fatal(err)
		}
		redistest.Settles(t, "the Sentinels forget a replica", func() bool {
			m, err := redis.StringMap(conn.Do("SENTINEL", "MASTER", redistest.MasterName))
			return err == nil && m["num-slaves"] == fmt.Sprint(to) && m["num-other-sentinels"] == "2" && m["flags"] == "master"
		})
	}
	return gone, stay
}

// beside lets both libraries use separate locks, and strikes meanwhile.
func beside(t *testbed.Program, url string, strike func()) (ours, java side) {
	ctx := context.Background()
	client, err := rlock.Open(ctx, url, rlock.WithWatchdogTimeout(besideLease))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	peer, err := javapeer.Launch(ctx, javapeer.Newest, url, javapeer.WatchdogTimeout(besideLease))
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Quit()
	held, err := client.NewLock("{" + onFirst() + "}:held").Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	holder := peer.Thread("holder")
	const javaHeld = ":held-java"
	if _, err := holder.Lock(ctx, "{"+onFirst()+"}"+javaHeld, javapeer.Watchdog); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(besideBefore + besideAfter)
	var all sync.WaitGroup
	var mu sync.Mutex
	hammer := func(s *side, lock func() (unlock func() error, err error)) {
		all.Go(func() {
			var longest time.Duration
			pairs, failed, last := 0, 0, time.Now()
			for time.Now().Before(end) {
				unlock, err := lock()
				if err != nil {
					failed++
					continue
				}
				now := time.Now()
				longest, last = max(longest, now.Sub(last)), now
				if err := unlock(); err != nil {
					failed++
				} else {
					pairs++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			s.longest, s.pairs, s.failed = max(s.longest, longest, time.Since(last)), s.pairs+pairs, s.failed+failed
		})
	}
	for i := range 4 {
		name := fmt.Sprintf("{%s}:%d", onFirst(), i)
		l := client.NewLock(name)
		hammer(&ours, func() (func() error, error) {
			h, err := l.Lock(ctx)
			if err != nil {
				return nil, err
			}
			return func() error { return h.Unlock(ctx) }, nil
		})
		thread := peer.Thread(fmt.Sprint(i))
		hammer(&java, func() (func() error, error) {
			_, err := thread.Lock(ctx, name+":java", javapeer.Watchdog)
			return func() error { _, err := thread.Unlock(ctx, name+":java"); return err }, err
		})
	}
	time.Sleep(besideBefore)
	strike()
	all.Wait()
	ours.kept = held.Err() == nil
	if said, err := holder.IsHeld(ctx, "{"+onFirst()+"}"+javaHeld); err == nil {
		java.kept = said.Bool()
	}
	return ours, java
}

func onFirst() string {
	for i := 0; ; i++ {
		if tag := fmt.Sprint("beside-", i); codec.Slot(tag) < 5461 {
			return tag
		}
	}
}
