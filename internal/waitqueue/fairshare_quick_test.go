package waitqueue

import (
	"slices"
	"time"
)

// quick is a process of this module. All its workers share one queue, whose head makes one
// attempt at a time on one connection. Messages come on another.
type quick struct {
	s *simulation
	work
	tally
	turn    FairShare
	polite  bool
	inARow  int // most local hand-offs in a row
	calls   []*call
	asking  bool // an attempt is under way
	holding bool
	flag    bool // a wake-up is pending
	row     int  // local hand-offs in a row so far
	subbed  bool // subscription requested
	heeded  bool // subscription confirmed
	epoch   int  // number of the subscription
	timer   int  // number of the setting; an old setting's tick is ignored
	armed   time.Duration
	counts  int // counts of clients so far
	pipe    connection
	hub     connection
}

// call is a waiting worker.
type call struct{ since time.Duration }

// wakes is how long a runnable goroutine takes to run.
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

// until is the FairShare's YieldUntil, or 0 without courtesy.
func (q *quick) until() time.Duration {
	if !q.polite {
		return 0
	}
	return q.turn.YieldUntil(q.s.now)
}

// call lets a worker ask for the lock.
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
		q.flag = false // the release will wake the queue
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

// unlock sends the release, followed by an acquire if it is handed on locally.
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

// hush cleans up when no worker waits.
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
