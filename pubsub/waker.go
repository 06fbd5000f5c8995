package pubsub

// Waker is called when it is worth while to look at what the channel is about. Its
// methods are called on the hub's goroutines, one call at a time, and must not
// block: while one runs nobody else is woken. They may call [Hub.Subscribe] and
// [Subscription.Close], but not [Hub.Close].
type Waker interface {
	// Confirmed says that the channel is subscribed, or subscribed again after
	// the connection was lost. What was published before is gone: look now.
	Confirmed()

	// Message hands over what was published. payload is valid during the call
	// only. It is never called before the first Confirmed. On __redis__:invalidate it is
	// a key that another connection has read and that has changed; nil: all have.
	Message(payload []byte)

	// Refused says that the subscription can't be had: the server does not
	// permit it, or dialling failed with an error that Options.Permanent names.
	// It is called at most once and is the last call. Close is still required.
	Refused(err error)

	// If a Waker has a method Lost(), that is called too: a confirmed subscription was lost,
	// and no message comes until Confirmed is called again.
}
