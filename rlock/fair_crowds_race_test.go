//go:build race

package rlock_test

// crowds are smaller than without the race detector, which takes 8,000 goroutines.
var crowds = []int{1000, 4000}
