package rlock

import (
	"slices"
	"testing"
)

func TestTurnsAreTakenInOrderAndNeverTooMany(t *testing.T) {
	var all turns
	var begun []int
	begin := func(n int, longer bool) func() bool {
		return func() bool {
			begun = append(begun, n)
			return longer
		}
	}
	for n := range mostTurns + 5 {
		// The one after the first that waits has nothing to do.
		all.take(begin(n, n != mostTurns+1))
	}
	if len(begun) != mostTurns {
		t.Fatalf("%d began, want %d", len(begun), mostTurns)
	}
	all.leave()
	if len(begun) != mostTurns+1 {
		t.Fatalf("%d began after one left, want one more", len(begun))
	}
	all.leave()
	if len(begun) != mostTurns+3 {
		t.Fatalf("%d began, want the idle one and the next", len(begun))
	}
	for range mostTurns + 2 {
		all.leave()
	}
	if len(begun) != mostTurns+5 || !slices.IsSorted(begun) {
		t.Fatalf("they began as %v", begun)
	}
	if all.taken != 0 || all.waiting != nil {
		t.Fatalf("%d turns are taken, %d wait, and nobody is there", all.taken, len(all.waiting))
	}
}

// What has nothing to do passes its turn on without going deeper.
func TestIdleTurnsDoNotNest(t *testing.T) {
	var all turns
	for range mostTurns {
		all.take(func() bool { return true })
	}
	depth, deepest, begun := 0, 0, 0
	for range 1000 {
		all.take(func() bool {
			begun++
			depth++
			deepest = max(deepest, depth)
			depth--
			return false
		})
	}
	for range mostTurns {
		all.leave()
	}
	if begun != 1000 || deepest != 1 || all.taken != 0 {
		t.Fatalf("%d began, %d deep; %d are taken", begun, deepest, all.taken)
	}
}
