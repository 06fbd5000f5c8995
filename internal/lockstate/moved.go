package lockstate

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/redisconn"
)

const (
	// lookEvery is how often the server's name is looked up. Two answers in a
	// row must leave a connection's peer out: a resolver may change its mind.
	lookEvery = 5 * time.Second

	// lookSeldom is the longest interval, for a name that leads to other addresses
	// at each look.
	lookSeldom = 5 * time.Minute
)

var errAddressMoved = errors.New("the server's name leads to another address")

// WatchAddress looks up the server's name from time to time, until the client is
// closed. If the name leads to another address, the connections are replaced: the
// old server may live on, and even accept writes.
func (c *State) WatchAddress(t *redisconn.Target) {
	ctx, stop := context.WithCancel(context.Background())
	c.address.stop = stop
	c.address.wg.Go(func() {
		every, moves := lookEvery, 0
		for {
			select {
			case <-time.After(every):
			case <-ctx.Done():
				return
			}
			moved, err := c.looksMoved(ctx, t)
			switch {
			case err != nil: // without a resolver nothing is known
			case !moved:
				every, moves = max(every/2, lookEvery), 0
			default:
				if moves++; moves < 2 {
					continue
				}
				every, moves = min(2*every, lookSeldom), 0
				if !c.node.pipe.Retire(errAddressMoved) {
					c.node.hub.Redial() // else that follows
				}
			}
		}
	})
}

func (c *State) looksMoved(ctx context.Context, t *redisconn.Target) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	return t.Moved(ctx)
}

// unwatchAddress ends watchAddress.
func (c *State) unwatchAddress() {
	if c.address.stop != nil {
		c.address.stop()
		c.address.wg.Wait()
	}
}
