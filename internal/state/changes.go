package state

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/section"
)

const (
	// A shard remembers up to ownChanges changes. A busy one remembers up to maxChanges, so
	// that no number has more receipts of one client, while all shards of the client share
	// sharedPast with the past unlocks. If more come within RepeatedFor, the oldest are dropped.
	ownChanges = 16
	maxChanges = 256

	// changeSize is how many unlocks take as much memory as a change.
	changeSize = 10
)

// PastChange is a change without an owner that a failover may undo. Its receipt stays on the
// server, so that a repetition counts once, until the change is forgotten.
type PastChange struct {
	Client  *Client
	Name    string        // of its object, for the log
	Slot    uint16        // of its keys
	Call    kind.Call     // to be sent to a server that may lack it
	Receipt any           // the name of the key
	Due     bool          // to be sent again
	Late    bool          // something that was sent may yet run, so that its receipt stays until its TTL is over
	open    bool          // it is under way again
	dropped bool          // it was forgotten meanwhile
	Sent    time.Duration // when it was sent
	Until   time.Duration // not to be sent again after this
	On      uint64        // as in Past
}

// Remember remembers u. If there is no room, the oldest change is dropped.
func (s *Shard) Remember(u *PastChange) {
	m := &s.Past
	if !m.takeRoom(u.Client) {
		m.drop(m.changes[0])
		m.changes = slices.Delete(m.changes, 0, 1)
		m.takeRoom(u.Client)
	}
	m.changes = append(m.changes, u)
	s.forgetLater()
}

// takeRoom takes room for one more change, and reports whether there is any.
func (m *Memory) takeRoom(c *Client) bool {
	switch n := len(m.changes); {
	case n-m.shared < ownChanges:
		return true
	case n >= maxChanges:
		return false
	case c.pastShared.Add(changeSize) > sharedPast:
		c.pastShared.Add(-changeSize)
		return false
	}
	m.shared++
	return true
}

// forgetLater drops the changes once they are too old to be repeated.
func (s *Shard) forgetLater() {
	m := &s.Past
	if m.forgets || len(m.changes) == 0 {
		return
	}
	m.forgets = true
	c, oldest := m.changes[0].Client, m.changes[0].Sent
	c.Timers.After(max(oldest+RepeatedFor-s.Now(), time.Second), func() {
		defer s.Enter(section.MustNotBlock).Leave()
		m.forgets = false
		if !c.Closed() {
			m.forget(s.Now())
			s.forgetLater()
		}
	})
}

// forget drops the changes that are too old to be repeated and not under way.
func (m *Memory) forget(now time.Duration) {
	m.changes = slices.DeleteFunc(m.changes, func(u *PastChange) bool {
		if now-u.Sent < RepeatedFor || u.open || u.Due && now < u.Until {
			return false
		}
		m.drop(u)
		return true
	})
}

// ForgetChanges drops all changes. The client is being closed.
func (c *Client) ForgetChanges() {
	for i := range c.Shards {
		s := &c.Shards[i]
		sec := s.Enter(section.MustNotBlock)
		for _, u := range s.Past.changes {
			s.Past.drop(u)
		}
		s.Past.changes = nil
		sec.Leave()
	}
}

// drop deletes the receipt of a change that is no longer remembered, once nothing needs it.
func (m *Memory) drop(u *PastChange) {
	c := u.Client
	if m.shared > 0 {
		m.shared--
		c.pastShared.Add(-changeSize)
	}
	if u.dropped = true; !u.open && !u.Late {
		c.Exec.Discard(u.Slot, u.Receipt)
	}
}

// TakeChange is Take for a change.
func (m *Memory) TakeChange(now time.Duration) *PastChange {
	for _, u := range m.changes {
		switch {
		case !u.Due || u.open: // one under way goes to whichever server serves by then
		case m.Repeats >= RepeatsAtOnce || u.Client.Closed():
			return nil
		default:
			if u.Due = false; now < u.Until && !u.Client.stillHas(u.Slot, u.On) {
				u.open = true
				m.Repeats++
				return u
			}
		}
	}
	return nil
}

// Repeated is called when the repetition of u has ended, and was answered on a connection; 0: it was
// not. late tells whether it may yet run.
func (m *Memory) Repeated(u *PastChange, on uint64, late bool) {
	m.Repeats--
	u.open, u.On, u.Late = false, on, u.Late || late
	if u.dropped && !u.Late {
		u.Client.Exec.Discard(u.Slot, u.Receipt)
	}
}
