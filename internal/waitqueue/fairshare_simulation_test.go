package waitqueue

import (
	"math/rand/v2"
	"slices"
	"time"
)

// simulation is one lock on one server and the processes around it, in simulated time. Commands
// run in order of arrival, and a release is published to all subscribers.
type simulation struct {
	now    time.Duration
	from   time.Duration // when measuring begins
	rng    *rand.Rand
	events []event // a heap
	count  int

	busy      time.Duration // until when the server is busy
	taken     bool
	listeners []listener
}

// listener is a subscribed process. heard is called when a message arrives there.
type listener interface {
	line() *connection
	heard()
}

// event happens at an instant; those of one instant keep the order of planning.
type event struct {
	at    time.Duration
	order int
	do    func()
}

func (e event) before(f event) bool {
	return e.at < f.at || e.at == f.at && e.order < f.order
}

func newSimulation(seed uint64) *simulation {
	return &simulation{now: time.Hour, rng: rand.New(rand.NewPCG(seed, 1))}
}

func (s *simulation) at(at time.Duration, do func()) {
	s.count++
	s.events = append(s.events, event{max(at, s.now), s.count, do})
	for i := len(s.events) - 1; i > 0; {
		up := (i - 1) / 2
		if !s.events[i].before(s.events[up]) {
			break
		}
		s.events[i], s.events[up] = s.events[up], s.events[i]
		i = up
	}
}

func (s *simulation) after(d time.Duration, do func()) { s.at(s.now+d, do) }

// next removes the first event and returns it.
func (s *simulation) next() event {
	first, last := s.events[0], len(s.events)-1
	s.events[0] = s.events[last]
	s.events[last] = event{}
	s.events = s.events[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && s.events[child+1].before(s.events[child]) {
			child++
		}
		if !s.events[child].before(s.events[i]) {
			break
		}
		s.events[i], s.events[child] = s.events[child], s.events[i]
		i = child
	}
	return first
}

// run lets time pass until end.
func (s *simulation) run(end time.Duration) {
	for len(s.events) > 0 && s.events[0].at < end {
		e := s.next()
		s.now = e.at
		e.do()
	}
	s.now = end
}

// between is a uniformly random duration.
func (s *simulation) between(least, most time.Duration) time.Duration {
	return least + time.Duration(s.rng.Int64N(int64(most-least)+1))
}

// connection keeps order in each direction.
type connection struct {
	s     *simulation
	there time.Duration // when the last command arrives at the server
	back  time.Duration // when the last reply or message arrives at the client
	least time.Duration // least and most time to receive
	most  time.Duration
}

// oneWay is half a round trip of 60 to 120 µs.
func (s *simulation) oneWay() time.Duration { return s.between(30*us, 60*us) }

// command is what the server does, at a cost, and what the client does at the reply.
type command struct {
	cost  time.Duration
	do    func()
	reply func()
}

// send makes the server run the commands with nothing between them.
func (c *connection) send(commands ...command) {
	s := c.s
	c.there = max(c.there, s.now+s.oneWay())
	s.at(c.there, func() {
		for _, x := range commands {
			s.busy = max(s.busy, s.now) + x.cost
			x.do()
			c.deliver(x.reply)
		}
	})
}

// deliver brings a reply or message from the server, once the server has done its present work.
func (c *connection) deliver(what func()) {
	s := c.s
	c.back = max(c.back, s.busy+s.oneWay()+s.between(c.least, c.most))
	s.at(c.back, what)
}

// What a command costs the server.
const (
	scriptCost = 15 * us
	plainCost  = 2 * us
)

func (s *simulation) acquire() bool {
	granted := !s.taken
	s.taken = true
	return granted
}

func (s *simulation) release() {
	if !s.taken {
		panic("released but not taken")
	}
	s.taken = false
	for _, l := range s.listeners {
		l.line().deliver(l.heard)
	}
}

func (s *simulation) subscribe(l listener) {
	if !slices.Contains(s.listeners, l) {
		s.listeners = append(s.listeners, l)
	}
}

func (s *simulation) unsubscribe(l listener) {
	s.listeners = slices.DeleteFunc(s.listeners, func(m listener) bool { return m == l })
}

// work is what each worker of a process does, over and over.
type work struct {
	workers int
	hold    time.Duration
	think   time.Duration
}

// slop is how late a timer fires.
const slop = 60 * us

func (w work) holding() time.Duration { return w.hold + slop }

func (w work) thinking() time.Duration {
	if w.think == 0 {
		return 0
	}
	return w.think + slop
}

// tally counts what a process got.
type tally struct {
	grants int
	waits  []time.Duration
}

func (t *tally) granted(s *simulation, since time.Duration) {
	if s.now >= s.from {
		t.grants++
		t.waits = append(t.waits, s.now-since)
	}
}

// quantile returns a quantile of the waits.
func (t *tally) quantile(q float64) time.Duration {
	if len(t.waits) == 0 {
		return 0
	}
	w := slices.Sorted(slices.Values(t.waits))
	return w[min(int(q*float64(len(w))), len(w)-1)]
}
