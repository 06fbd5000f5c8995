//go:build race

package release

// disturbed is one less than without the race detector, which has nothing to find here and
// takes ten times as long.
const disturbed = 1
