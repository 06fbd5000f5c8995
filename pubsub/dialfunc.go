package pubsub

import (
	"context"

	"github.com/gomodule/redigo/redis"
)

// DialFunc opens the connection that the subscriptions use. It is called by one
// goroutine at a time, and may block until ctx ends, which is at most
// Options.Timeout after the call or when the hub is closed; a DialFunc that
// ignores ctx delays [Hub.Close]. ctx says nothing about the connection's later
// life.
//
// The connection must be redigo's or behave like it: one goroutine may send while
// another receives, and it is a redis.ConnWithTimeout. It may be dialled for the hub
// or borrowed from a *redis.Pool. The hub closes it exactly once, when
// nobody uses it any more, and a borrowed one that works goes back to its pool with
// nothing subscribed and nothing unread. That last step is the pool's own round
// trip, so a pool's connections need a read timeout, as they do for any other use.
//
// A connection dialled for the hub alone may have a method Interrupt(), which makes a
// blocked Receive, Send or Flush return with an error at once, and every later one
// too. It is called from another goroutine, before Close, perhaps on a connection
// that has already failed. A connection without it is ended in good order: the hub
// unsubscribes everything and waits for the answer to a last PING.
type DialFunc func(ctx context.Context) (redis.Conn, error)
