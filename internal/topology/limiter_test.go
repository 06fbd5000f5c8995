package topology

import (
	"slices"
	"testing"
)

func TestMoreRenewalsRunWhereTheyShareAWAIT(t *testing.T) {
	t.Parallel()
	begun := 0
	limiter := Limiter{most: maxSynced}
	for range maxSynced + 5 {
		limiter.Run(func() bool { begun++; return true })
	}
	if begun != maxSynced {
		t.Errorf("%d began, want %d", begun, maxSynced)
	}
}

func TestRenewalsRunInOrderAndNeverTooMany(t *testing.T) {
	t.Parallel()
	var limiter Limiter
	var begun []int
	begin := func(n int, longer bool) func() bool {
		return func() bool {
			begun = append(begun, n)
			return longer
		}
	}
	for n := range maxRenewals + 5 {
		// The second one that waits has nothing to do.
		limiter.Run(begin(n, n != maxRenewals+1))
	}
	if len(begun) != maxRenewals {
		t.Fatalf("%d began, want %d", len(begun), maxRenewals)
	}
	limiter.Done()
	if len(begun) != maxRenewals+1 {
		t.Fatalf("%d began after one left, want one more", len(begun))
	}
	limiter.Done()
	if len(begun) != maxRenewals+3 {
		t.Fatalf("%d began, want the idle one and the next", len(begun))
	}
	for range maxRenewals + 2 {
		limiter.Done()
	}
	if len(begun) != maxRenewals+5 || !slices.IsSorted(begun) {
		t.Fatalf("they began as %v", begun)
	}
	if limiter.running != 0 || limiter.waiting != nil {
		t.Fatalf("%d batches run, %d wait, and nobody is there", limiter.running, len(limiter.waiting))
	}
}

// A renewal that has nothing to do lets the next one run without recursion.
func TestIdleRenewalsDoNotNest(t *testing.T) {
	t.Parallel()
	var limiter Limiter
	for range maxRenewals {
		limiter.Run(func() bool { return true })
	}
	depth, deepest, begun := 0, 0, 0
	for range 1000 {
		limiter.Run(func() bool {
			begun++
			depth++
			deepest = max(deepest, depth)
			depth--
			return false
		})
	}
	for range maxRenewals {
		limiter.Done()
	}
	if begun != 1000 || deepest != 1 || limiter.running != 0 {
		t.Fatalf("%d began, %d deep; %d are taken", begun, deepest, limiter.running)
	}
}
