package pubsub

import (
	"context"

	"github.com/gomodule/redigo/redis"
)

// DialFunc opens the connection that the subscriptions use. It is called by one
// goroutine at a time, and may block until ctx ends. That is at most Options.Timeout
// after the call, or when the hub is closed. A call that ignores ctx is abandoned: its
// connection is closed on arrival, and DialFunc is not called again until then. ctx does
// not limit the connection's later life.
//
// The connection must be redigo's or behave like it: one goroutine may send while
// another receives, and it is a redis.ConnWithTimeout. It may be dialled for the hub
// or borrowed from a *redis.Pool. When it is no longer used, the hub interrupts it
// and closes it exactly once, so a pool drops it.
//
// It may have a method Interrupt(), which makes a blocked Receive, Send or Flush return
// with an error at once, and every later one too. The hub calls it from another goroutine,
// before Close, perhaps on a connection that has already failed. A connection without it
// is interrupted by redis.ReceiveContext with a context that has ended.
type DialFunc func(ctx context.Context) (redis.Conn, error)
