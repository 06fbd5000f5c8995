package pubsub

// Waker is called when the state that a channel reports on may have changed. Its
// methods are called on the hub's goroutines, one call at a time, and must not
// block: no other Waker is called meanwhile. They may call [Hub.Subscribe] and
// [Subscription.Close], but not [Hub.Close].
type Waker interface {
	// Confirmed says that the channel is subscribed, or subscribed again after
	// the connection was lost. Earlier messages may have been missed: look now.
	Confirmed()

	// Message takes a published message. payload is valid only during the call.
	// Message is never called before the first Confirmed. On __redis__:invalidate
	// payload is a key that another connection has read and that has changed; nil: all.
	Message(payload []byte)

	// Refused says that the subscription is impossible: the server does not
	// permit it, or an error was permanent, see Options.Permanent. It is called
	// at most once and is the last call. Close must still be called.
	Refused(err error)

	// If a Waker has a method Lost(), it is called when a confirmed subscription was
	// lost: no message comes until Confirmed is called again. If it has a method
	// Duplicate(payload []byte), that is called instead of Message for a message of a
	// plain channel that repeats the one just received on the sharded channel.
}
