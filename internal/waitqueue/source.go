package waitqueue

// Source is the reason for an attempt.
type Source uint8

// All sources:
const (
	Look    Source = iota // the waiter looks itself
	Heard                 // a message came
	Expiry                // the lease ended that the server last reported
	Passed                // the attempt follows an unlock of this client
	Sources               // the number of sources
)
