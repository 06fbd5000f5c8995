package locks

import (
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
)

// ask sends a query to the server of the slot and waits for the reply. It leaves the section
// while it waits.
func (s *shard) ask(slot uint16, call kind.Call, limit time.Duration) (reply any, err error) {
	r := s.client.question(slot, call, limit)
	if s.enqueue(r) {
		s.without(func() { s.exec.Finish(r) })
	}
	return replied(r)
}

// askLater queues a query and returns. then gets it later, in another section, when it has ended.
func (s *shard) askLater(slot uint16, call kind.Call, limit time.Duration, then func(*command.Request)) {
	r := s.client.question(slot, call, limit)
	q := &asking{s, then}
	if r.Handler = q; !s.enqueue(r) {
		s.client.Go(func() { q.Answered(r) })
	}
}

// asking is a query whose outcome goes to a callback.
type asking struct {
	shard *shard
	then  func(*command.Request)
}

// Answered passes on the outcome.
func (q *asking) Answered(r *command.Request) {
	defer q.shard.enter(mustNotBlock).leave()
	q.then(r)
}

// Rest repeats the query until it has ended.
func (q *asking) Rest(r *command.Request) {
	q.shard.exec.Finish(r)
	q.Answered(r)
}
