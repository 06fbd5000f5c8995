//go:build !race

package rlock_test

// crowds are the numbers of waiters that leave in TestCrowdOfFairWaitersLeaves.
var crowds = []int{1000, 4000, 16_000}
