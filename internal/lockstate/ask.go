package lockstate

import (
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/kind"
)

// ask asks the server of the lock's slot. It gives the section away meanwhile.
func (l *Lock) ask(call kind.Call, limit time.Duration) (reply any, err error) {
	r := l.c.Question(l.Slot, call, limit)
	if l.s.sec.enqueue(r) {
		l.s.blocks(func() { l.c.Exec.Finish(r) })
	}
	return core.Replied(r)
}

// askLater asks with what else is written when the section has been left, and calls then
// in another one.
func (l *Lock) askLater(call kind.Call, limit time.Duration, then func(reply any, err error)) {
	r := l.c.Question(l.Slot, call, limit)
	q := &asking{l, then}
	if r.Handler = q; !l.s.sec.enqueue(r) {
		l.c.Go(func() { q.Answered(r) })
	}
}

// asking is a question that nobody waits for.
type asking struct {
	l    *Lock
	then func(reply any, err error)
}

// Answered hands over the reply.
func (q *asking) Answered(r *command.Request) {
	defer q.l.s.enter(mustNotBlock).leave()
	q.then(core.Replied(r))
}

// Rest asks again.
func (q *asking) Rest(r *command.Request) {
	q.l.c.Exec.Finish(r)
	q.Answered(r)
}
