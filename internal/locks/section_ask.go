package locks

import (
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
)

// ask sends a query to the server of the slot and waits for the reply. It leaves the section
// while it waits.
func (x *section) ask(c *Client, slot uint16, call kind.Call, limit time.Duration) (reply any, err error) {
	r := c.question(slot, call, limit)
	if x.enqueue(r) {
		x.without(func() { c.exec.Finish(r) })
	}
	return replied(r)
}

// askLater queues a query and returns. then gets it later, in another section, when it has ended.
func (x *section) askLater(c *Client, slot uint16, call kind.Call, limit time.Duration, then func(*command.Request)) {
	r := c.question(slot, call, limit)
	q := &asking{x, c, then}
	if r.Handler = q; !x.enqueue(r) {
		c.spawn(func() { q.Answered(r) })
	}
}

// asking is a query whose outcome goes to a callback.
type asking struct {
	section *section
	c       *Client
	then    func(*command.Request)
}

// Answered passes on the outcome.
func (q *asking) Answered(r *command.Request) {
	defer q.section.enter(mustNotBlock).leave()
	q.then(r)
}

// Rest repeats the query until it has ended.
func (q *asking) Rest(r *command.Request) {
	q.c.exec.Finish(r)
	q.Answered(r)
}
