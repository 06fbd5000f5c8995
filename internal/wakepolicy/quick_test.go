package wakepolicy

import (
	"slices"
	"time"
)

// quick is a process of this module: one queue for all its workers, one
// attempt at a time for the head, on one connection; messages come by another.
type quick struct {
	s *simulation
	work
	tally
	turn    FairShare
	polite  bool
	inARow  int // local hand-offs, at most
	calls   []*call
	asking  bool // an attempt is under way
	holding bool
	flag    bool // a look is worth while
	row     int  // local hand-offs since the last release without
	subbed  bool // asked for
	heeded  bool // confirmed
	epoch   int  // of the subscription
	timer   int  // counts settings, so that an old one's tick is told apart
	armed   time.Duration
	counts  int // how often it asked for the number of clients
	pipe    connection
	hub     connection
}

// call is a worker's wait.
type call struct{ since time.Duration }

// wakes is how long a goroutine takes to run once it can.
func (q *quick) wakes() time.Duration { return q.s.between(20*us, 60*us) }

func newQuick(s *simulation, w work, courteous bool, inARow int) *quick {
	q := &quick{s: s, work: w, polite: courteous, inARow: inARow}
	q.pipe = connection{s: s}
	q.hub = connection{s: s, least: 100 * us, most: 300 * us}
	for range w.workers {
		s.after(s.between(0, ms), q.call)
	}
	return q
}

func (q *quick) line() *connection { return &q.hub }

// until is the FairShare's, where there is one.
func (q *quick) until() time.Duration {
	if !q.polite {
		return 0
	}
	return q.turn.YieldUntil(q.s.now)
}

// call is a worker that wants the lock.
func (q *quick) call() {
	if len(q.calls) == 0 {
		q.turn.Arrived(q.s.now)
		if !q.asking && !q.subbed {
			q.flag = true
		}
	}
	q.calls = append(q.calls, &call{since: q.s.now})
	q.step()
}

// step does what is due.
func (q *quick) step() {
	if q.asking {
		return
	}
	if len(q.calls) == 0 {
		q.flag = false
		q.hush()
		return
	}
	if q.holding && q.heeded {
		q.flag = false // the release looks after the queue
	}
	if !q.flag {
		return
	}
	if at := q.until(); at > 0 {
		q.listen()
		if q.armed != at {
			q.armed = at
			q.timer++
			timer := q.timer
			q.s.at(at+slop, func() {
				if timer == q.timer {
					q.armed = 0
					q.step()
				}
			})
		}
		return
	}
	q.flag = false
	q.pipe.send(q.acquire())
}

func (q *quick) acquire() command {
	q.asking = true
	var granted bool
	return command{scriptCost, func() { granted = q.s.acquire() }, func() { q.answered(granted) }}
}

func (q *quick) answered(granted bool) {
	q.asking = false
	if !granted {
		q.turn.Refused(q.s.now)
		if len(q.calls) > 0 {
			q.listen()
		}
		q.step()
		return
	}
	q.turn.Granted(q.s.now)
	q.holding = true
	q.granted(q.s, q.calls[0].since)
	q.calls = q.calls[1:]
	if len(q.calls) > 0 {
		q.listen()
	}
	q.s.after(q.wakes()+q.work.holding(), q.unlock)
	q.step()
}

// unlock is sent, with an acquire behind it if that is a local hand-off.
func (q *quick) unlock() {
	batch := []command{{scriptCost, q.s.release, func() {
		q.turn.Released(q.s.now, q.heeded)
		q.s.after(q.wakes()+q.work.thinking(), q.call)
	}}}
	if q.row < q.inARow && len(q.calls) > 0 && !q.asking && q.until() == 0 {
		q.row++
		q.flag = false
		batch = append(batch, q.acquire())
	} else {
		q.row = 0
	}
	q.holding = false
	if q.polite && q.turn.CountDue(q.s.now) {
		q.counts++
		n := 1
		batch = append(batch, command{plainCost, func() {
			if n = len(q.s.listeners); !slices.Contains(q.s.listeners, listener(q)) {
				n++
			}
		}, func() { q.turn.SetClients(n) }})
	}
	q.pipe.send(batch...)
}

func (q *quick) listen() {
	if q.subbed {
		return
	}
	q.subbed, q.heeded = true, false
	q.epoch++
	epoch := q.epoch
	q.hub.send(command{plainCost, func() { q.s.subscribe(q) }, func() {
		if epoch == q.epoch {
			q.heeded = true
			q.flag = true
			q.step()
		}
	}})
}

// hush leaves nothing of a queue that nobody waits in.
func (q *quick) hush() {
	if q.subbed {
		q.subbed, q.heeded = false, false
		q.epoch++
		q.hub.send(command{plainCost, func() { q.s.unsubscribe(q) }, func() {}})
	}
	q.timer++
	q.armed = 0
}

func (q *quick) heard() {
	if !q.heeded {
		return
	}
	q.turn.MessageReceived(q.s.now)
	q.flag = true
	q.step()
}
