// Package quantile has those of what was measured several times.
package quantile

import (
	"math"
	"slices"
)

// Of is the nearest rank, and not a number of nothing.
func Of(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return slices.Sorted(slices.Values(v))[max(int(math.Ceil(q*float64(len(v)))), 1)-1]
}

// Median is the middle one; of an even number the lower of the middle two.
func Median(v []float64) float64 { return Of(v, 0.5) }
