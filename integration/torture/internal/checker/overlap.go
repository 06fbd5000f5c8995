package checker

import (
	"cmp"
	"slices"
)

// Overlap is two windows that have a moment in common and may not, by themselves or because of others that have it too.
type Overlap struct{ A, B Window }

// Overlaps sweeps windows of one lock. Empty windows overlap nothing.
func (m Model) Overlaps(windows []Window) []Overlap {
	sorted := slices.DeleteFunc(slices.Clone(windows), func(w Window) bool { return w.To <= w.From })
	slices.SortStableFunc(sorted, func(a, b Window) int { return cmp.Compare(a.From, b.From) })
	var found []Overlap
	var inside []Window
	for _, w := range sorted {
		inside = slices.DeleteFunc(inside, func(x Window) bool { return x.To <= w.From })
		taken := 0
		for _, x := range inside {
			if taken += x.Permits; !m.together(x, w) {
				found = append(found, Overlap{x, w})
			}
		}
		if !m.fits(w, taken) {
			found = append(found, Overlap{inside[len(inside)-1], w})
		}
		inside = append(inside, w)
	}
	return found
}
