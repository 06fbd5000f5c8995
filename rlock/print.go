package rlock

import (
	"fmt"
	"strconv"

	"github.com/rlock-go/redisson/internal/locks"
)

// Without these methods %v would read fields that other goroutines change meanwhile.

// printed formats a handle for people, with its name cut to a length that suits a log
// line.
func printed(what, name string) string { return "rlock." + what + "(" + locks.Quote(name) + ")" }

// String is the client's id, for people.
func (c *Client) String() string { return "rlock.Client(" + c.ID().String() + ")" }

// String is the lock's name, cut to a length that suits a log line.
func (l *Lock) String() string { return printed("Lock", l.Name()) }

// String is the semaphore's name, cut to a length that suits a log line.
func (s *PermitSemaphore) String() string { return printed("PermitSemaphore", s.Name()) }

// String is the semaphore's name, cut to a length that suits a log line.
func (s *Semaphore) String() string { return printed("Semaphore", s.Name()) }

// String is the latch's name, cut to a length that suits a log line.
func (l *CountDownLatch) String() string { return printed("CountDownLatch", l.Name()) }

// String names the semaphore and the number of permits.
func (p *Permits) String() string {
	return "rlock.Permits(" + locks.Quote(p.Name()) + ", " + strconv.Itoa(p.n) + ")"
}

// String names the lock and the owner, for people. It says nothing about the
// hold's state. To let another process act as the owner, use Owner's String.
func (h *Hold) String() string {
	if h.isZero() {
		return "rlock.Hold()"
	}
	return "rlock.Hold(" + locks.Quote(h.Name()) + ", " + h.h.OwnerText() + ")"
}

// String names the members, cut to a length that suits a log line.
func (m *MultiLock) String() string { return printed("MultiLock", m.names()) }

// String is the number of holds and the names of the members, cut to a length that suits a log
// line. For their owners see Holds.
func (h *MultiHold) String() string {
	return fmt.Sprintf("rlock.MultiHold(%d holds, %s)", len(h.holds), locks.Quote(h.names()))
}
