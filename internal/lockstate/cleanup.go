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

// asked notes that the server was asked in the waiter's name and did not grant.
func (w *Waiter) asked() {
	w.refused = true
	if w.Settled {
		w.leaveServer()
	}
}

// leaveServer leaves nothing of a waiter that gives up after a refusal. Where
// another caller waits for the same owner, that one still needs it.
func (w *Waiter) leaveServer() {
	if !w.refused {
		return
	}
	w.refused = false
	n := w.n
	owner := w.owner
	if w.Terms.As {
		owner = w.Terms.Owner
		if q := w.queue(); q != nil {
			for other := range q.All() {
				if o := other.Call.(*Waiter); o != w && o.Terms.As && o.Terms.Owner == owner {
					return
				}
			}
		}
	}
	var want kind.Want
	st := n.ensureOwnerState(owner)
	w.fill(&want, st)
	calls := w.l.kind.Undo(&want, false)
	if len(calls) == 0 {
		st.dropIfIdle()
		return
	}
	n.s.c.work.add()
	st.run(&cleanup{st: st, calls: calls, work: true})
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
	k.req = command.Request{Handler: k, Aside: true, Resend: resend(&call), Until: watchdog.Never}
	k.st.n.l.fill(&k.req, call)
	if !k.st.n.s.sec.enqueue(&k.req) {
		k.end()
	}
}

func (k *cleanup) end() {
	if k.work {
		k.st.n.s.c.work.done()
	}
	k.st.done()
}

// Unanswered does nothing: Paused or Done follows.
func (k *cleanup) Unanswered(*command.Request) {}

// Paused has it sent again.
func (k *cleanup) Paused(r *command.Request, d time.Duration) {
	n := k.st.n
	n.s.c.after(d, func() {
		defer n.s.enter(mayBlock).leave()
		if !n.s.sec.enqueue(r) {
			k.end()
		}
	})
}

// Done sends the next.
func (k *cleanup) Done(*command.Request) {
	defer k.st.n.s.enter(mustNotBlock).leave()
	k.begin()
}
