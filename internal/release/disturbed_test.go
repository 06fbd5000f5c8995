//go:build !race

package release

// disturbed is in how many waits of a life TestEverySequence has something go wrong.
const disturbed = 2
