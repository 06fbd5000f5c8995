package locks

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

const (
	// A shard remembers up to ownChanges changes. A busy one remembers up to maxChanges, so
	// that no number has more receipts of one client, while all shards of the client share
	// sharedPast with the past unlocks. If more come within repeatedFor, the oldest are dropped.
	ownChanges = 16
	maxChanges = 256

	// changeSize is how many unlocks take as much memory as a change.
	changeSize = 10
)

// pastChange is a change without an owner that a failover may undo. Its receipt stays on the
// server, so that a repetition counts once, until the change is forgotten.
type pastChange struct {
	client  *Client
	name    string        // of its object, for the log
	slot    uint16        // of its keys
	call    kind.Call     // to be sent to a server that may lack it
	receipt any           // the name of the key
	due     bool          // to be sent again
	late    bool          // something that was sent may yet run, so that its receipt stays until its TTL is over
	open    bool          // it is under way again
	dropped bool          // it was forgotten meanwhile
	sent    time.Duration // when it was sent
	until   time.Duration // not to be sent again after this
	on      uint64        // as in past
}

// remember remembers u. If there is no room, the oldest change is dropped.
func (s *shard) remember(u *pastChange) {
	m := &s.past
	if !m.takeRoom(u.client) {
		m.drop(m.changes[0])
		m.changes = slices.Delete(m.changes, 0, 1)
		m.takeRoom(u.client)
	}
	m.changes = append(m.changes, u)
	s.forgetLater()
}

// takeRoom takes room for one more change, and reports whether there is any.
func (m *memory) takeRoom(c *Client) bool {
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
func (s *shard) forgetLater() {
	m := &s.past
	if m.forgets || len(m.changes) == 0 {
		return
	}
	m.forgets = true
	c, oldest := m.changes[0].client, m.changes[0].sent
	c.timers.After(max(oldest+repeatedFor-s.Now(), time.Second), func() {
		defer s.enter(mustNotBlock).leave()
		m.forgets = false
		if !c.Closed() {
			m.forget(s.Now())
			s.forgetLater()
		}
	})
}

// forget drops the changes that are too old to be repeated and not under way.
func (m *memory) forget(now time.Duration) {
	m.changes = slices.DeleteFunc(m.changes, func(u *pastChange) bool {
		if now-u.sent < repeatedFor || u.open || u.due && now < u.until {
			return false
		}
		m.drop(u)
		return true
	})
}

// forgetChanges drops all changes. The client is being closed.
func (c *Client) forgetChanges() {
	for i := range c.shards {
		s := &c.shards[i]
		sec := s.enter(mustNotBlock)
		for _, u := range s.past.changes {
			s.past.drop(u)
		}
		s.past.changes = nil
		sec.leave()
	}
}

// drop deletes the receipt of a change that is no longer remembered, once nothing needs it.
func (m *memory) drop(u *pastChange) {
	c := u.client
	if m.shared > 0 {
		m.shared--
		c.pastShared.Add(-changeSize)
	}
	if u.dropped = true; !u.open && !u.late {
		c.exec.Discard(u.slot, u.receipt)
	}
}

// takeChange is take for a change.
func (m *memory) takeChange(now time.Duration) *pastChange {
	for _, u := range m.changes {
		switch {
		case !u.due || u.open: // one under way goes to whichever server serves by then
		case m.repeats >= repeatsAtOnce || u.client.Closed():
			return nil
		default:
			if u.due = false; now < u.until && !u.client.exec.Uses(u.slot, u.on) {
				u.open = true
				m.repeats++
				return u
			}
		}
	}
	return nil
}

// repeated is called when the repetition of u has ended, and was answered on a connection; 0: it was
// not. late tells whether it may yet run.
func (m *memory) repeated(u *pastChange, on uint64, late bool) {
	m.repeats--
	u.open, u.on, u.late = false, on, u.late || late
	if u.dropped && !u.late {
		u.client.exec.Discard(u.slot, u.receipt)
	}
}
