package topology

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/background"
)

const (
	// lookEvery is how often a server's name is looked up. Two answers in a row
	// must leave a connection's peer out: a resolver may change its mind.
	lookEvery = 5 * time.Second

	// lookSeldom is the longest interval, for a name that leads to other addresses
	// at each look.
	lookSeldom = 5 * time.Minute
)

var errAddressMoved = errors.New("the server's name leads to another address")

// watchAddress looks up a server's name from time to time. If the name leads to
// another address, the connections are replaced: the old server may live on, and
// even accept writes. It asks stray, which has timeout to answer, and calls redial when
// the name leads elsewhere. It returns when ctx ends.
func watchAddress(ctx context.Context, stray func(context.Context) (bool, error), timeout time.Duration, redial func(cause error)) {
	every, moves := lookEvery, 0
	for background.Sleep(ctx, every) {
		look, cancel := context.WithTimeout(ctx, timeout)
		strays, err := stray(look)
		cancel()
		switch {
		case err != nil: // without a resolver nothing is known
		case !strays:
			every, moves = max(every/2, lookEvery), 0
		default:
			if moves++; moves < 2 {
				continue
			}
			every, moves = min(2*every, lookSeldom), 0
			redial(errAddressMoved)
		}
	}
}
