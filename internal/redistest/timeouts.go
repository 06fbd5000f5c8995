package redistest

import "time"

const (
	// startTimeout is generous because a loaded machine may need seconds for
	// what takes 20 ms otherwise.
	startTimeout = 20 * time.Second
	stopTimeout  = 10 * time.Second
	startTries   = 8
	pollEvery    = 2 * time.Millisecond
)
