// Package quantile computes quantiles of repeated measurements.
package quantile

import (
	"math"
	"slices"
)

// Of returns the q-quantile of v by nearest rank, or NaN if v is empty.
func Of(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return slices.Sorted(slices.Values(v))[max(int(math.Ceil(q*float64(len(v)))), 1)-1]
}

// Median returns the middle value, or the lower of the middle two.
func Median(v []float64) float64 { return Of(v, 0.5) }
