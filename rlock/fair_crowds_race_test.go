//go:build race

package rlock_test

// crowds are smaller with the race detector, which allows about 8,000 goroutines.
var crowds = []int{1000, 4000}
