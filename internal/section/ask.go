package section

import (
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/kind"
)

// Ask sends a query to the server of the slot and waits for the reply. It leaves the section
// while it waits.
func (x *Section) Ask(c *core.Client, slot uint16, call kind.Call, limit time.Duration) (reply any, err error) {
	r := c.Question(slot, call, limit)
	if x.Enqueue(r) {
		x.Without(func() { c.Exec.Finish(r) })
	}
	return core.Replied(r)
}

// AskLater queues a query and returns. then gets it later, in another section, when it has ended.
func (x *Section) AskLater(c *core.Client, slot uint16, call kind.Call, limit time.Duration, then func(*command.Request)) {
	r := c.Question(slot, call, limit)
	q := &asking{x, c, then}
	if r.Handler = q; !x.Enqueue(r) {
		c.Go(func() { q.Answered(r) })
	}
}

// asking is a query whose outcome goes to a callback.
type asking struct {
	section *Section
	c       *core.Client
	then    func(*command.Request)
}

// Answered passes on the outcome.
func (q *asking) Answered(r *command.Request) {
	defer q.section.Enter(MustNotBlock).Leave()
	q.then(r)
}

// Rest repeats the query until it has ended.
func (q *asking) Rest(r *command.Request) {
	q.c.Exec.Finish(r)
	q.Answered(r)
}
