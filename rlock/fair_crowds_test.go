//go:build !race

package rlock_test

// crowds are how many leave in TestCrowdOfFairWaitersLeaves.
var crowds = []int{1000, 4000, 16_000}
