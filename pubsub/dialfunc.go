package pubsub

import (
	"context"

	"github.com/gomodule/redigo/redis"
)

// DialFunc opens the connection that the subscriptions use. It is called by one
// goroutine at a time, and may block until ctx ends, which is at most Options.Timeout
// after the call or when the hub is closed. A call that ignores ctx is abandoned: its
// connection is closed on arrival, and until then there is no other call. ctx says
// nothing about the connection's later life.
//
// The connection must be redigo's or behave like it: one goroutine may send while
// another receives, and it is a redis.ConnWithTimeout. It may be dialled for the hub
// or borrowed from a *redis.Pool. When it is no longer used, the hub breaks it off
// and closes it exactly once, so a pool drops it.
//
// It may have a method Interrupt(), which makes a blocked Receive, Send or Flush return
// with an error at once, and every later one too. It is called from another goroutine,
// before Close, perhaps on a connection that has already failed. A connection without it
// is broken off by redis.ReceiveContext with a context that has ended.
type DialFunc func(ctx context.Context) (redis.Conn, error)
