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

// source is the reason for the queue's next attempt.
func (q *Queue) source(handedOn bool) Source {
	switch {
	case handedOn:
		return Passed
	case q.heard:
		return Heard
	case q.wakes == 0 && q.handOffDeadline == 0 && q.trouble.err == nil && (q.confirmed || q.rules.Silent):
		return Expiry
	}
	return Look
}
