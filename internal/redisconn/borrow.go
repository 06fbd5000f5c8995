package redisconn

import (
	"context"
	"errors"
	"fmt"

	"github.com/gomodule/redigo/redis"
)

// Pool lends connections. *redis.Pool is one.
type Pool interface {
	// GetContext lends one connection.
	GetContext(ctx context.Context) (redis.Conn, error)
}

// ErrPoolSize is wrapped in the error if a pool has no connection to lend.
var ErrPoolSize = errors.New("a client keeps two of its pool's connections, one for commands and one for subscriptions; the pool needs a MaxActive of at least 2 beyond what others borrow")

// Borrow takes a connection from p. If the pool has none to lend, at once or before
// ctx ends, the error wraps ErrPoolSize. Borrow also reads the replies that the last
// borrower did not wait for. Otherwise they would be taken for the replies to later
// commands.
func Borrow(ctx context.Context, p Pool) (redis.Conn, error) {
	var c redis.Conn
	err := apart("the pool", func() (err error) {
		if c, err = p.GetContext(ctx); c == nil && err == nil {
			err = errors.New("it gave neither a connection nor an error")
		}
		return err
	})
	if err == nil {
		if _, err = Do(ctx, c, ""); err == nil {
			return c, nil
		}
		_ = c.Close() // it has failed, so its pool drops it
	} else if errors.Is(err, redis.ErrPoolExhausted) || ctx.Err() != nil && limited(p) {
		err = fmt.Errorf("%w: %w", err, ErrPoolSize)
	}
	return nil, fmt.Errorf("borrow a connection: %w", err)
}

// limited tells whether p is a full pool that waits for others to return connections.
func limited(p Pool) bool {
	rp, ok := p.(*redis.Pool)
	return ok && rp.Wait && rp.MaxActive > 0 && rp.ActiveCount() >= rp.MaxActive
}
