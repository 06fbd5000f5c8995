package topology

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

const (
	// lookEvery is how often a server's name is looked up. A connection is replaced
	// only if two answers in a row lack its peer: a resolver may alternate.
	lookEvery = 5 * time.Second

	// lookSeldom is the longest interval, for a name that resolves to other
	// addresses each time.
	lookSeldom = 5 * time.Minute
)

var errAddressMoved = errors.New("the server's name leads to another address")

// watchAddress looks up a server's name until ctx ends. If the name leads to another
// address, the connections must be replaced: the old server may live on, and even
// accept writes. stray reports whether that is so, within timeout; redial is called
// after two such answers in a row.
func watchAddress(ctx context.Context, stray func(context.Context) (bool, error), timeout time.Duration, redial func(cause error)) {
	every, moves := lookEvery, 0
	for clock.Sleep(ctx, every) {
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
