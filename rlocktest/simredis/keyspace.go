package simredis

import (
	"slices"
	"time"
)

// find returns the value of a key; nil: none.
func (s *Server) find(key string) *entry {
	e := s.db[key]
	if e == nil || e.till == 0 || e.till >= s.now() { // as Redis: at its last millisecond it is there
		return e
	}
	if s.master == nil {
		s.delete(key, nil)
		s.gone(key, "expired")
	}
	return nil
}

func (s *Server) gone(key, why string) {
	if s.Gone != nil && s.master == nil {
		s.Gone(s, key, why)
	}
}

// remove deletes a key by a command.
func (s *Server) remove(key, why string) {
	s.delete(key, s.current)
	s.gone(key, why)
}

func (s *Server) delete(key string, by *client) {
	if s.db[key] != nil {
		delete(s.db, key)
		s.changed(key, by)
	}
}

// touch records that a command has changed a key.
func (s *Server) touch(key string) { s.changed(key, s.current) }

func (s *Server) changed(key string, by *client) {
	if s.backlogged && !slices.Contains(s.dirty, key) {
		s.dirty = append(s.dirty, key)
	}
	s.invalidate(key, by)
}

// of returns the value if it is of this kind, or an error.
func (s *Server) of(key string, k kind) (*entry, any) {
	e := s.find(key)
	if e != nil && e.kind != k {
		return nil, errType
	}
	return e, nil
}

// make is of for a write.
func (s *Server) make(key string, k kind) (*entry, any) {
	e, err := s.of(key, k)
	if err == nil && e == nil {
		e = &entry{kind: k}
		s.db[key] = e
	}
	return e, err
}

// wrote ends a command that has taken something from a value.
func (s *Server) wrote(key string, e *entry) {
	s.touch(key)
	if e.empty() {
		delete(s.db, key)
		s.gone(key, "emptied")
	}
}

// FlushAll deletes all keys.
func (s *Server) FlushAll() {
	keys := make([]string, 0, len(s.db))
	for k := range s.db {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	s.forgetTracked()
	for _, k := range keys {
		s.remove(k, "flushed")
	}
	if s.current == nil {
		s.commit()
	}
}

// expiry is when keys are looked at: a server deletes those that have expired by itself.
type expiry struct {
	due   map[string]int64 // by key, ms
	next  int64            // the earliest; 0: none
	timer *time.Timer
}

// expires has a key looked at when it may have expired.
func (s *Server) expires(key string, till int64) {
	now := s.now()
	if till == 0 || till-now > 1e10 || s.master != nil || s.Clock != nil {
		return
	}
	x := &s.expiry
	if x.due == nil {
		x.due = map[string]int64{}
	}
	if was, ok := x.due[key]; ok && was <= till+51 { // a longer life is seen then
		return
	}
	x.due[key] = till + 1 + s.w.Rand.Int64N(50)
	if x.next == 0 || x.due[key] < x.next {
		s.armExpiry(x.due[key])
	}
}

func (s *Server) armExpiry(at int64) {
	x := &s.expiry
	if x.timer != nil {
		x.timer.Stop()
	}
	x.next = at
	run := s.runID
	x.timer = s.w.After(time.Duration(at-s.now())*time.Millisecond, func() {
		if s.runID == run && !s.down && s.master == nil {
			s.expire()
		}
	})
}

// expire deletes the keys that have expired, and sets the next time.
func (s *Server) expire() {
	x := &s.expiry
	now, next := s.now(), int64(0)
	var over []string
	for k, at := range x.due {
		if at <= now {
			over = append(over, k)
		}
	}
	slices.Sort(over)
	for _, k := range over {
		delete(x.due, k)
		if e := s.db[k]; e != nil && e.till != 0 {
			if s.Paused {
				x.due[k] = now + 100
			} else if s.find(k) != nil {
				x.due[k] = e.till + 1 + s.w.Rand.Int64N(50)
			}
		}
	}
	for k, at := range x.due {
		if s.db[k] == nil {
			delete(x.due, k)
		} else if next == 0 || at < next {
			next = at
		}
	}
	x.next, x.timer = 0, nil
	if next != 0 {
		s.armExpiry(next)
	}
	s.commit()
}

// Jump changes the server's clock.
func (s *Server) Jump(by time.Duration) {
	s.Offset += by
	s.revive()
}

// revive looks at all keys anew, behind a jump, a start or a promotion.
func (s *Server) revive() {
	if s.expiry.timer != nil {
		s.expiry.timer.Stop()
	}
	s.expiry = expiry{}
	keys := make([]string, 0, len(s.db))
	for k := range s.db {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if e := s.find(k); e != nil {
			s.expires(k, e.till)
		}
	}
	if s.current == nil {
		s.commit()
	}
}
