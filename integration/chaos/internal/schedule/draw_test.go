package schedule

import (
	"slices"
	"testing"
	"time"
)

var sizes = Sizes{Duration: time.Minute, Locks: 5, Go: 3, Java: 2}

func TestSeedDecidesAll(t *testing.T) {
	if a, b := Draw(7, sizes), Draw(7, sizes); !slices.Equal(a, b) || len(a) < 50 {
		t.Errorf("%d and %d faults of one seed", len(a), len(b))
	}
	if slices.Equal(Draw(7, sizes), Draw(8, sizes)) {
		t.Error("another seed gives the same faults")
	}
}

func TestFaultsKeepApart(t *testing.T) {
	for seed := range uint64(300) {
		over := map[[2]int]time.Duration{}
		voids := 0
		for _, f := range Draw(seed, sizes) {
			if f.At < warmUp || f.End() > sizes.Duration-calmLeast {
				t.Fatalf("seed %d: %v is in the calm at the beginning or the end", seed, f)
			}
			if f.Kind == WipeServer || f.Kind == FlushAll {
				voids++
			}
			who := [2]int{int(f.Target), f.Row}
			if f.Target != Server {
				if f.Kind != KillProcess && f.Kind != StopProcess && f.Kind != Cancel {
					continue
				}
				if rows := []int{0, sizes.Go, sizes.Java}[f.Target]; f.Row < 0 || f.Row >= rows {
					t.Fatalf("seed %d: %v", seed, f)
				}
			}
			if f.At < over[who] {
				t.Fatalf("seed %d: %v begins before %v", seed, f, over[who])
			}
			over[who] = f.End()
		}
		if voids > 3 {
			t.Errorf("seed %d: %d faults take the data", seed, voids)
		}
	}
}

func TestEveryKindIsDrawn(t *testing.T) {
	seen := map[Kind]bool{}
	for seed := range uint64(50) {
		for _, f := range Draw(seed, sizes) {
			seen[f.Kind] = true
			if f.Kind == Withhold && f.Command == Reenters {
				seen[WithholdReentry] = true
			}
		}
	}
	for _, choices := range [][]choice{network, server, process} {
		for _, c := range choices {
			if !seen[c.kind] {
				t.Errorf("never: %s", c.kind)
			}
		}
	}
}

func TestShortRunIsCalm(t *testing.T) {
	if f := Draw(1, Sizes{Duration: 5 * time.Second, Locks: 1, Go: 1}); len(f) > 0 {
		t.Errorf("%v", f)
	}
	if f := Draw(1, Sizes{Duration: 20 * time.Second, Locks: 1, Go: 1}); len(f) < 10 {
		t.Errorf("only %d faults in 20 s", len(f))
	}
}

func TestSetsHaveFaultsOfTheirOwn(t *testing.T) {
	for topology, want := range map[string][]Kind{Sentinel: {Failover, KillMaster, StopServer, ReplicaGoes, ReplicaLags}, Cluster: {Failover, Forced, TakenOver, KillMaster, StopServer, MoveSlot, ReplicaGoes, ReplicaLags}} {
		s := sizes
		s.Topology = topology
		drawn := map[Kind]int{}
		for seed := range uint64(20) {
			for _, f := range Draw(seed, s) {
				drawn[f.Kind]++
				if f.Lock < 0 || f.Lock >= s.Locks {
					t.Fatalf("%s, seed %d: %v", topology, seed, f)
				}
			}
		}
		for _, kind := range want {
			if drawn[kind] < 20 {
				t.Errorf("%s: %s was drawn %d times", topology, kind, drawn[kind])
			}
		}
		for _, kind := range []Kind{RestartServer, CrashServer, WipeServer} {
			if drawn[kind] > 0 {
				t.Errorf("%s: %s, which a set has no file for", topology, kind)
			}
		}
	}
}
