package main

import "github.com/rlock-go/redisson/integration/internal/codeedit"

type edits = []codeedit.Edit

// defects are the mistakes that the program must find. The library has made each of them once, but for the last two.
var defects = []defect{
	{
		what: "a pool whose Dial leaves a reply behind: replies are taken for those of other commands",
		as:   "trust,count",
		edits: edits{
			{In: "Borrow", Call: "Do", Put: "any(nil), error(nil)"},
			{In: "answer", Stmt: "x.err = fmt.Errorf(_, errOutOfStep, command, reply)", Remove: true},
			{In: "handshake.server", Stmt: "x.err = fmt.Errorf(_, errOutOfStep, err)", Put: "return redisconn.Server{}"},
		},
	},
	{
		what:  "a lost re-entry undoes another process's hold",
		as:    "trust,count",
		edits: edits{{In: "State.Exclusive", Expr: "o.thread > c.actors.shared.of(o).Load()", Put: "true"}},
	},
	{
		what:  "where CLIENT KILL is refused, a late command cuts a longer promise",
		as:    "trust",
		edits: edits{{In: "Late.Least", If: "sent < l.until", Put: "sent < l.until && l == nil"}},
	},
	{
		what: "locked, says a server that never said a word",
		as:   "locked",
		edits: edits{
			{In: "Waiter.lastSaidTaken", Stmt: "return false", Put: "return true"},
			{In: "Waiter.lastSaidTaken", Stmt: "return facts.Told || facts.Known", Put: "return true"},
		},
	},
	{
		what:  "an acquire with As that never left the process is called uncertain",
		as:    "uncertain",
		edits: edits{{In: "attempt.stuck", Call: "fail", Arg: 1, Put: "ErrUncertain"}},
	},
	{
		what:  "UnlockAs behind an open command has no bound",
		as:    "bound",
		edits: edits{{In: "Release.Tick", Call: "m.tell", Nth: 1, Put: "map[bool]func(Verdict) Action{false: m.tell, true: func(Verdict) Action { return 0 }}[m.Why == UnlockAs](Queued)"}},
	},
	{
		what: "waits with As that were told \"taken\" end in an outage",
		as:   "given up",
		edits: edits{
			{In: "attempt.stuck", Expr: "a.w.wasRefused()", Put: "false"},
			{In: "Queue.bears", If: "w.Told || _", Put: "now < w.trouble.since+q.timeout"},
			{In: "Queue.Open", Expr: "!w.Told", Put: "true"},
			{In: "Queue.retryUnqueued", Expr: "!w.Told", Put: "true"},
		},
	},
	{
		what:  "an Extend that was refused shortens trust to its lease",
		as:    "a hold was lost without a cause,trust",
		edits: edits{{In: "extension.send", Stmt: "h.extends = e", Put: "h.extends = e; h.promise.End = min(h.promise.End, e.end)"}},
	},
	{
		what:  "a hold granted between the two sends of a forced unlock that was lost lives on",
		as:    "trust",
		edits: edits{{In: "forcing.end", If: "r.MayHaveRun()", Put: "r.Wire.Err == nil"}},
	},
	{
		what: "MaxHold is forgotten after a nested unlock that failed",
		as:   "lease",
		edits: edits{{In: "OwnerState.updateLease", Call: "st.lease.RenewUntil",
			Put: "if sum.RenewUntil == 0 {\n\t\t\tst.lease.Live(st.lease.Expiry(), clock.Never, clock.Never)\n\t\t}"}},
	},
	{
		what:  "a refused nested unlock keeps the outer hold from being renewed",
		as:    "a hold was lost without a cause",
		edits: edits{{In: "releasing.Paused", Case: "!q.MayArrive", Put: "!q.MayArrive && r.st == nil"}},
	},
	{
		what:  "a lost unlock without a latch is not sent again, and called released",
		as:    "unlock,count",
		edits: edits{{In: "Release.send", Stmt: "m.state = sent", Before: "if m.Form.once() && m.lost() {\n\t\treturn m.finish(Released, f)\n\t}"}},
	},
	{
		what: "a lost unlock without a latch is sent again, though its owner was shown",
		as:   "unlock",
		edits: edits{
			{In: "Release.send", Case: "m.Form.once() && f.Shown && f.Reached != 0 && f.MayArrive", Put: "false"},
			{In: "Release.send", Case: "m.Form.once() && f.Shown && f.Reached != 0", Put: "false"},
			{In: "Release.send", Case: "m.Form.once() && f.Shown", Put: "m.Form.once() && f.Shown && f.Reached == 0"},
		},
	},
}
