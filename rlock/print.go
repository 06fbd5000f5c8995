package rlock

import "github.com/rlock-go/redisson/internal/lockstate"

// Without these methods %v would walk through fields that other goroutines
// change meanwhile.

// String names the client by its id.
func (c *Client) String() string { return "rlock.Client(" + c.ID().String() + ")" }

// String names the lock, cut to a length that a log line bears.
func (l *Lock) String() string { return "rlock.Lock(" + lockstate.Quote(l.Name()) + ")" }

// String names the lock and the owner, for people; it says nothing of the hold's
// state. Who is to act as the owner elsewhere is given Owner's String.
func (h *Hold) String() string {
	if h.isZero() {
		return "rlock.Hold()"
	}
	return "rlock.Hold(" + lockstate.Quote(h.Name()) + ", " + h.h.OwnerText() + ")"
}
