package topology

import (
	"context"
	"errors"
	"sync"
	"time"
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

// addressWatch looks up a server's name from time to time. If the name leads to
// another address, the connections are replaced: the old server may live on, and
// even accept writes.
type addressWatch struct {
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// watchAddress asks moved, which has timeout to answer, and calls redial when the
// name leads elsewhere.
func watchAddress(moved func(context.Context) (bool, error), timeout time.Duration, redial func(cause error)) *addressWatch {
	ctx, stop := context.WithCancel(context.Background())
	w := &addressWatch{stop: stop}
	look := func() (bool, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return moved(ctx)
	}
	w.wg.Go(func() {
		every, moves := lookEvery, 0
		for {
			select {
			case <-time.After(every):
			case <-ctx.Done():
				return
			}
			moved, err := look()
			switch {
			case err != nil: // without a resolver nothing is known
			case !moved:
				every, moves = max(every/2, lookEvery), 0
			default:
				if moves++; moves < 2 {
					continue
				}
				every, moves = min(2*every, lookSeldom), 0
				redial(errAddressMoved)
			}
		}
	})
	return w
}

// end returns when the watch is over.
func (w *addressWatch) end() {
	w.stop()
	w.wg.Wait()
}
