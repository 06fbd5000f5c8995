package waitqueue

// Rules are what one sort of lock asks of its queue. They are set before anybody
// joins.
type Rules struct {
	// Width is how many may have the name at the same time; 0 means any number.
	// Where more than one may, a grant is no reason for the others to wait: the
	// next one tries, as long as the wake-up has attempts left.
	Width int

	// Silent says that there is no channel. Nothing is subscribed to; the caller
	// reports with a refusal for how long to pause.
	Silent bool

	// HandOff lets the head's acquire follow this client's unlock.
	HandOff bool

	// PassOn has a refused attempt leave its wake-up to the waiter behind it.
	PassOn bool

	// Gate says that one grant ends all waits of the queue.
	Gate bool
}

// Exclusive are the rules of a lock that one owner has at a time.
var Exclusive = Rules{Width: 1, HandOff: true}

// All is a message for every waiter.
const All = 1 << 29
