package pubsub

import (
	"cmp"
	"log/slog"
	"time"
)

// Options are a hub's settings. The zero value is good.
type Options struct {
	// Timeout is how long dialling and each command may take. A server that said
	// nothing for half of it is sent a PING; one that said nothing for all of it
	// has lost the connection. Default is 3 s, Redisson's timeout.
	Timeout time.Duration

	// Permanent tells which dial errors retrying won't mend, such as a wrong
	// password. They refuse the subscriptions that were never confirmed; those
	// that were keep waiting for the server to change its mind. The server's
	// error answers to SUBSCRIBE are shown to it as well. It must not block.
	// Default is none.
	Permanent func(error) bool

	// MaxRetry is the longest pause before dialling again. It begins with 50 ms at
	// most and doubles with each failure in a row; the real pause is random,
	// between half and all of it. Default is 1 s.
	MaxRetry time.Duration

	// Reconnected is called for each connection that replaces another, with the time for
	// which there was none. It must not block. Default is nothing.
	Reconnected func(server string, down time.Duration)

	// SlotLost is called when the server does not serve the slot of a sharded
	// channel that somebody waits for, or serves it no longer. The hub asks again
	// now and then; a caller that knows a better server subscribes there. Trouble is
	// called when a connection can't be had, or is lost while somebody waits.
	// Neither may block. Default is nothing.
	SlotLost func()
	Trouble  func(error)

	// Logger gets a line when the connection is made, is lost, can't be made, and is
	// back. Its handler must not block for long, nor use the hub. Default is none.
	Logger *slog.Logger

	// Name is what the lines of Logger call the connection. Default is
	// "subscriptions".
	Name string
}

func (o Options) withDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = 3 * time.Second
	}
	// Half of it must still be a period that a ticker accepts.
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
