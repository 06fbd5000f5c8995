package pubsub

import (
	"cmp"
	"log/slog"
	"time"
)

// Options are a hub's settings. The zero value is ready to use.
type Options struct {
	// Timeout is how long dialling and each command may take. If the server is
	// silent for half of it, the hub sends a PING; if for all of it, the hub gives
	// the connection up. Default is 3 s, Redisson's timeout.
	Timeout time.Duration

	// Permanent tells whether a dial error is permanent, such as a wrong password.
	// Such an error refuses the subscriptions that were never confirmed; the others
	// keep waiting for the server. Permanent also gets the server's error answers to
	// SUBSCRIBE: a permanent one refuses all subscriptions of the channel, as an
	// ACL's always does. It must not block. Default is that none is permanent.
	Permanent func(error) bool

	// MaxRetry is the longest pause before dialling again. The pause begins with at
	// most 50 ms and doubles with each failure in a row. The actual pause is random,
	// between half and all of it. Default is 1 s.
	MaxRetry time.Duration

	// Reconnected is called for each connection that replaces another, with the time for
	// which there was none. It must not block. Default is nothing.
	Reconnected func(server string, down time.Duration)

	// SlotLost is called when the server does not serve the slot of a sharded channel
	// with waiters, or no longer does. The hub tries again every half Timeout; a caller
	// that knows a better server subscribes there. Trouble is called when a connection
	// can't be made, or is lost while there are channels. Neither may block. Default is
	// nothing.
	SlotLost func()
	Trouble  func(error)

	// Logger gets a line when the connection is made, is lost, can't be made, and is
	// back. Its handler must not block for long, nor use the hub. Default is none.
	Logger *slog.Logger

	// Name is the name of the connection in the lines of Logger. Default is
	// "subscriptions".
	Name string
}

func (o Options) withDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = 3 * time.Second
	}
	// A ticker must accept half of it.
	o.Timeout = max(o.Timeout, time.Millisecond)
	if o.Permanent == nil {
		o.Permanent = func(error) bool { return false }
	}
	if o.SlotLost == nil {
		o.SlotLost = func() {}
	}
	if o.MaxRetry <= 0 {
		o.MaxRetry = time.Second
	}
	o.Name = cmp.Or(o.Name, "subscriptions")
	return o
}
