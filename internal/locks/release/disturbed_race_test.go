//go:build race

package release

// disturbed is one lower with the race detector, which finds nothing here and takes ten times as
// long.
const disturbed = 1
