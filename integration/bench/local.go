package main

import "fmt"

// localCallers are how many callers of one client want one name: two that pass the lock back and forth, and a crowd.
var localCallers = []int{2, 1000}

// runLocal measures hand-offs among the callers of one client.
func runLocal(r *run) (err error) {
	defer caught(&err)
	all, closeAll, err := r.open(1, true)
	check(err)
	defer closeAll()
	for _, callers := range localCallers {
		check(r.contend("local", all, callers))
	}
	return nil
}

// crowdWaiters is how many callers each client has in the part with many clients.
const crowdWaiters = 8

// runCrowd measures many clients at one name.
func runCrowd(r *run) error {
	all, closeAll, err := r.open(r.sizes.crowd, true)
	if err != nil {
		return err
	}
	defer closeAll()
	return r.contend("crowd", all, r.sizes.crowd*crowdWaiters)
}

// contend makes each contender's callers compete for one lock, which they hold for no time.
func (r *run) contend(part string, all []*contender, callers int) (err error) {
	defer caught(&err)
	at := fmt.Sprint(callers)
	for i := range r.sizes.rounds {
		check(round(r, i, all, fmt.Sprintf("%s, %d callers at one name", part, callers), func(c *contender) (err error) {
			defer caught(&err)
			rtt := must(r.server.roundTrip())
			s := spec{prefix: prefixFor("local", c.name), callers: callers, shared: true, length: r.sizes.length}
			length := warmUp
			if c.name == redsyncP {
				length *= 2 // or it may not get the lock at all
			}
			check(c.warm(i, s, length))
			l, e, err := r.cost(c, s)
			check(err)
			grants := float64(l.grants)
			r.add(part, c.name, at, "acquisitions/s", l.rate())
			r.add(part, c.name, at, "µs", l.micros())
			r.add(part, c.name, at, "hand-offs/s", float64(l.handoffs)/l.took.Seconds())
			r.add(part, c.name, at, "round trips a hand-off", l.took.Seconds()/float64(l.handoffs)/rtt.Seconds())
			r.add(part, c.name, at, "server µs", e.server.Seconds()*1e6/grants)
			p := c.peer
			if p == nil {
				p = &peer{extra: []string{"del"}} // Redisson's scripts call the same commands as rlock's
			}
			r.add(part, c.name, at, "commands", p.requests(e.commands, l.grants)/grants)
			r.add(part, c.name, at, "attempts", p.attempts(e.commands, l.grants)/grants)
			return nil
		}))
	}
	r.say("%s, %s callers: done", part, at)
	return nil
}
