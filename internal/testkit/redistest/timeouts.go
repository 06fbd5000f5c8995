package redistest

import "time"

const (
	// startTimeout is long because a loaded machine may need seconds for what
	// otherwise takes 20 ms.
	startTimeout = 20 * time.Second
	stopTimeout  = 10 * time.Second
	startTries   = 8
	pollEvery    = 2 * time.Millisecond
)
