package waitqueue

// Source is what an attempt is made for.
type Source uint8

// All of them.
const (
	Look    Source = iota // to see for itself
	Heard                 // a message
	Expiry                // the end of the lease that others were last known to have
	Passed                // an unlock of this client that it follows
	Sources               // how many there are
)

// source is what the queue's next attempt is made for.
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
