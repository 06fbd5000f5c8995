package simulation

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// TestAnotherClusterAtAMastersAddressGetsNoLock: a master dies, and another cluster's only server gets its address. It takes
// the client's commands, and says that it serves every slot. Some seeds have a failover before that, others none.
func TestAnotherClusterAtAMastersAddressGetsNoLock(t *testing.T) {
	for seed := range uint64(20) {
		seedAll(t, seed)
		synctest.Test(t, func(t *testing.T) { playAddress(t, seed) })
		unseed()
	}
}

func playAddress(t *testing.T, seed uint64) {
	w := simnet.New(seed)
	w.Mu.Lock()
	ours, other := simredis.NewCluster(w, 3, 1), simredis.NewCluster(w, 1, 0)
	w.Mu.Unlock()
	time.Sleep(2 * time.Second) // the replicas come
	client, err := rlock.Open(context.Background(), ours.URL(), dialer(w, "10.1.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	dead := ours.Servers[seed%3]
	var well, lost []*rlock.Hold
	for i := range 24 {
		name := fmt.Sprint("lock", i)
		h, err := client.NewLock(name).Lock(context.Background())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if ours.Owner(codec.Slot(name)) == dead {
			lost = append(lost, h)
		} else {
			well = append(well, h)
		}
	}
	w.Mu.Lock()
	dead.Kill(seed%2 == 0)
	pause := time.Duration(w.Rand.Int64N(int64(8 * time.Second)))
	w.Mu.Unlock()
	time.Sleep(pause)
	w.Mu.Lock()
	if ours.Failovers > 0 { // else there may be none, or the replica copies what the other cluster has
		well = append(well, lost...)
	}
	other.Servers[0].Kill(true)
	other.Servers[0].Readdress(dead.Addr)
	other.Servers[0].Start(true)
	w.Mu.Unlock()
	time.Sleep(time.Minute)
	for _, h := range well {
		if h.Err() != nil {
			t.Errorf("seed %d: %s: %v", seed, h.Name(), h.Err())
		}
		if _, err := client.NewLock(h.Name()).TryLock(context.Background()); err == nil {
			t.Errorf("seed %d: %s is held twice", seed, h.Name())
		}
	}
	w.Mu.Lock()
	if keys := other.Servers[0].Keys(); len(keys) > 0 {
		t.Errorf("seed %d: the other cluster has got %d keys", seed, len(keys))
	}
	w.Mu.Unlock()
	client.Close()
	time.Sleep(time.Second)
	w.Mu.Lock()
	for _, s := range append(ours.Servers, other.Servers...) { // the bubble's end waits for their rounds
		s.Kill(true)
	}
	w.Mu.Unlock()
	time.Sleep(time.Minute)
}
