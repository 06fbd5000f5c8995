//go:build !race

package release

// disturbed is the number of waits of a life in which TestEverySequence lets something go wrong.
const disturbed = 2
