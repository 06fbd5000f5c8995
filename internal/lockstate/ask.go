package lockstate

import (
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/section"
)

// ask sends a query to the server of the lock's slot and waits for the reply. It leaves the
// section while it waits.
func (l *Lock) ask(call kind.Call, limit time.Duration) (reply any, err error) {
	r := l.c.Question(l.Slot, call, limit)
	if l.s.Enqueue(r) {
		l.s.Without(func() { l.c.Exec.Finish(r) })
	}
	return core.Replied(r)
}

// askLater queues a query and returns. then gets the outcome later, in another section.
func (l *Lock) askLater(call kind.Call, limit time.Duration, then func(reply any, err error)) {
	r := l.c.Question(l.Slot, call, limit)
	q := &asking{l, then}
	if r.Handler = q; !l.s.Enqueue(r) {
		l.c.Go(func() { q.Answered(r) })
	}
}

// asking is a query whose outcome goes to a callback.
type asking struct {
	l    *Lock
	then func(reply any, err error)
}

// Answered passes on the outcome.
func (q *asking) Answered(r *command.Request) {
	defer q.l.s.Enter(section.MustNotBlock).Leave()
	q.then(core.Replied(r))
}

// Rest repeats the query until it has ended.
func (q *asking) Rest(r *command.Request) {
	q.l.c.Exec.Finish(r)
	q.Answered(r)
}
