//go:build !race

package rlockprom_test

import (
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/outcomes"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlockprom"
)

// docs/operations.md promises this for a pair. With -race a sync.Pool drops a quarter of what it gets.
func TestAllocationsOfAPair(t *testing.T) {
	if more := outcomes.MoreAllocations(t, rlock.WithObserver(rlockprom.New().Observer())); more > 0 {
		t.Errorf("%v allocations more", more)
	}
}
