package lockstate

import (
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/watchdog"
)

// cleanup sends what leaves nothing of a waiter on the server, one call after
// the other, in its owner's command queue. Nobody waits for the outcome.
type cleanup struct {
	req   command.Request
	st    *OwnerState
	calls []kind.Call
	work  bool // it counts as work under way
}

// begin sends the first call. It runs with the shard locked, in the owner's
// command queue.
func (k *cleanup) begin() {
	if len(k.calls) == 0 {
		k.end()
		return
	}
	call := k.calls[0]
	k.calls = k.calls[1:]
	k.req = command.Request{Handler: k, Aside: true, Resend: call.Resend, Until: watchdog.Never}
	k.st.n.l.fill(&k.req, call)
	if !k.st.n.l.s.sec.enqueue(&k.req) {
		k.end()
	}
}

func (k *cleanup) end() {
	if k.work {
		k.st.n.l.c.work.Done()
	}
	k.st.done()
}

// Unanswered does nothing: Paused or Done follows.
func (k *cleanup) Unanswered(*command.Request) {}

// Paused has it sent again.
func (k *cleanup) Paused(r *command.Request, d time.Duration) {
	n := k.st.n
	n.l.c.timers.After(d, func() {
		defer n.l.s.enter(mayBlock).leave()
		if !n.l.s.sec.enqueue(r) {
			k.end()
		}
	})
}

// Done sends the next.
func (k *cleanup) Done(*command.Request) {
	defer k.st.n.l.s.enter(mustNotBlock).leave()
	k.begin()
}
