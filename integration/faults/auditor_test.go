package faults

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// auditor keeps reading the locks in use from the server, past all proxies, and compares them with the holds that this
// process has.
type auditor struct {
	row  *row
	stop chan struct{}
	done sync.WaitGroup

	looking sync.Mutex // held while a server is read; guards url and conn
	url     string
	conn    redis.Conn

	mu      sync.Mutex // guards the rest
	watched map[string]*watched
}

// watched is one lock's name while a round uses it.
type watched struct {
	holds  []*rlock.Hold        // granted, and not known to have ended
	orphan map[string]time.Time // by owner: since when no hold has this owner
	vain   map[string]time.Time // by owner: since when a hold is valid that the server does not have
	told   map[string]bool      // violations, and owners with an excuse, that were reported already
}

func audit(w *row, url string) *auditor {
	a := &auditor{row: w, url: url, stop: make(chan struct{}), watched: map[string]*watched{}}
	a.done.Go(a.run)
	return a
}

func (a *auditor) end() {
	close(a.stop)
	a.done.Wait()
}

// rests stops the auditor until follow is called with the server to read from then on. It returns when no read is open.
func (a *auditor) rests() (follow func(url string)) {
	a.looking.Lock()
	a.hangUp()
	return func(url string) {
		a.url = url
		a.looking.Unlock()
	}
}

// hangUp closes the connection. The caller holds looking.
func (a *auditor) hangUp() {
	if a.conn != nil {
		a.conn.Close()
		a.conn = nil
	}
}

func (a *auditor) watch(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watched[key] = &watched{orphan: map[string]time.Time{}, vain: map[string]time.Time{}, told: map[string]bool{}}
}

func (a *auditor) unwatch(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.watched, key)
}

// believe records h as granted.
func (a *auditor) believe(h *rlock.Hold) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w := a.watched[h.Name()]; w != nil {
		w.holds = append(w.holds, h)
	}
}

func (a *auditor) run() {
	const every = 3 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-a.stop:
			a.looking.Lock()
			a.hangUp()
			a.looking.Unlock()
			return
		case <-tick.C:
		}
		a.looking.Lock()
		if a.conn == nil {
			// If this fails the server is down, which may be the row's fault.
			if c, err := redis.DialURL(a.url, redis.DialConnectTimeout(time.Second), redis.DialReadTimeout(soon), redis.DialWriteTimeout(time.Second)); err == nil {
				a.conn = c
			}
		}
		if a.conn != nil && !a.look(a.conn) {
			a.hangUp()
		}
		a.looking.Unlock()
	}
}

// look reads and judges every name once. It returns false when the connection is broken.
func (a *auditor) look(conn redis.Conn) bool {
	a.mu.Lock()
	before := map[string][]*rlock.Hold{}
	var keys []string
	for key, w := range a.watched {
		keys = append(keys, key)
		before[key] = append([]*rlock.Hold(nil), w.holds...)
	}
	a.mu.Unlock()
	asked := time.Now()
	for _, key := range keys {
		if conn.Send("HGETALL", key) != nil {
			return false
		}
	}
	if conn.Flush() != nil {
		return false
	}
	for _, key := range keys {
		fields, err := testbed.Counts(conn.Receive())
		if _, refused := err.(redis.Error); refused {
			continue // LOADING, BUSY and the like
		}
		if err != nil {
			return false
		}
		a.judge(key, fields, before[key], asked)
	}
	return true
}

// judge checks what the server showed after asked. before are the holds that had been granted by asked.
func (a *auditor) judge(key string, fields map[string]int, before []*rlock.Hold, asked time.Time) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.watched[key]
	if w == nil {
		return
	}
	once := func(what string, format string, args ...any) {
		if !w.told[what] {
			w.told[what] = true
			a.row.violates(format, args...)
		}
	}
	if len(fields) > 1 {
		once("owners", "%s has more than one owner: %v", key, fields)
	}
	// A hold that ended never revives. So one that is valid now was valid when the server answered.
	valid := map[string]int{}
	for _, h := range before {
		if h.Err() == nil {
			valid[testbed.Field(h.Owner())]++
		}
	}
	for owner, n := range valid {
		switch {
		case fields[owner] >= n:
			delete(w.vain, owner)
		case a.row.loses:
			if w.vain[owner].IsZero() {
				w.vain[owner] = asked
			}
			a.row.took("wrongly believed held", now.Sub(w.vain[owner]))
		default:
			once("valid", "%s: %d holds of %s say that they are valid, the server says %v", key, n, owner, fields)
		}
	}
	w.holds = slices.DeleteFunc(w.holds, func(h *rlock.Hold) bool { return h.Err() != nil })
	believed := map[string]bool{}
	for _, h := range w.holds {
		believed[testbed.Field(h.Owner())] = true
	}
	for owner := range fields {
		if believed[owner] {
			delete(w.orphan, owner)
			continue
		}
		since, known := w.orphan[owner]
		if !known {
			w.orphan[owner] = asked
			continue
		}
		age := now.Sub(since)
		a.row.took("unowned key", age)
		switch {
		case age <= a.row.bound+standstill: // a standstill that has just ended is noticed by then
		case age < soon && machine.noticed(since):
			// An undo takes several replies, each of which had to come within a command timeout.
			if !w.told[owner] {
				w.told[owner] = true
				a.row.outcome("unowned key for longer while the testing machine stood still", 1)
			}
		default:
			once("orphan", "%s is nobody's for %v: %v%s", key, age, fields, a.row.seen(owner))
		}
	}
	for owner := range w.orphan {
		if _, there := fields[owner]; !there {
			delete(w.orphan, owner)
		}
	}
}

// witness records when the machine itself stood still. It keeps pinging a server that no fault hits. When a reply takes
// a good part of a command timeout, a reply that is late elsewhere is no violation.
type witness struct {
	stop chan struct{}
	done sync.WaitGroup

	mu   sync.Mutex // guards last
	last time.Time  // when the last standstill ended
}

// standstill is how late a reply must be that usually comes within a millisecond.
const standstill = timeout / 4

var machine witness

func (w *witness) watch(t *testing.T) {
	c, err := redis.DialURL(redisserver.Local(t).URL())
	testbed.Must(t, err)
	w.stop = make(chan struct{})
	w.done.Go(func() {
		defer c.Close()
		tick := time.NewTicker(3 * time.Millisecond)
		defer tick.Stop()
		for before := time.Now(); ; {
			select {
			case <-w.stop:
				return
			case <-tick.C:
			}
			if _, err := c.Do("PING"); err != nil {
				t.Errorf("the witness's server: %v", err)
				return
			}
			if now := time.Now(); now.Sub(before) > standstill {
				w.mu.Lock()
				w.last = now
				w.mu.Unlock()
			}
			before = time.Now()
		}
	})
	t.Cleanup(func() {
		close(w.stop)
		w.done.Wait()
	})
}

// stood reports whether the machine stood still at any time since.
func (w *witness) stood(since time.Time) bool {
	// A standstill that has just ended may not have been noticed yet.
	<-time.After(standstill)
	return w.noticed(since)
}

// noticed is stood without the wait: it may miss a standstill that has just ended.
func (w *witness) noticed(since time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last.After(since)
}
