package main

// defects are the mistakes that the program must find, each of which the library has made once.
var defects = []defect{
	{
		what: "a pool whose Dial leaves a reply behind: replies are taken for those of other commands",
		as:   "trust,count",
		edits: []edit{
			{file: "internal/redisconn/borrow.go", fn: "Borrow", old: "if err := drain(ctx, c); err != nil {", new: "if false {"},
			{file: "internal/pipeline/handshake.go", fn: "handshake.number", old: "x.err = errStray(command, reply)", new: ""},
			{file: "internal/pipeline/handshake.go", fn: "handshake.text", old: "x.err = errStray(command, reply)", new: ""},
			{file: "internal/pipeline/handshake.go", fn: "handshake.server", old: `x.err = fmt.Errorf("%w: %w", errOutOfStep, err)`, new: "return redisconn.Server{}"},
		},
	},
	{
		what:  "a lost re-entry undoes another process's hold",
		as:    "trust,count",
		edits: []edit{{file: "internal/lockstate/owner.go", fn: "State.Exclusive", old: "o.client == c.id && o.thread > c.shared.Load()", new: "o.client == c.id"}},
	},
	{
		what:  "where CLIENT KILL is refused, a late command cuts a longer promise",
		as:    "trust",
		edits: []edit{{file: "internal/lockstate/ownerlease.go", fn: "OwnerState.least", old: "r != nil && sent < r.lateUntil", new: "r != nil && sent < r.lateUntil && st == nil"}},
	},
	{
		what: "locked, says a server that never said a word",
		as:   "locked",
		edits: []edit{
			{file: "internal/lockstate/waiter.go", fn: "Waiter.lastSaidTaken", old: "\t\treturn false // since then its owner came to hold it\n", new: "\t\treturn true\n"},
			{file: "internal/lockstate/waiter.go", fn: "Waiter.lastSaidTaken", old: "return facts.Told || facts.Known", new: "return true"},
		},
	},
	{
		what: "an acquire with As that never left the process is called uncertain",
		as:   "uncertain",
		edits: []edit{{file: "internal/lockstate/attempt.go", fn: "attempt.stuck", old: "a.w.fail(a.w.unsent(a.st.n.c.exec.Trouble(a.st.n.l.slot)))",
			new: `a.w.fail(ErrUncertain)`}},
	},
	{
		what: "UnlockAs behind an open command has no bound",
		as:   "bound",
		edits: []edit{{file: "internal/lockstate/unlock_as.go", fn: "unlockAs.tooLate", old: "r.report(unreleased(command.Unsent(u.waits)))",
			new: "_ = command.Unsent(u.waits)"}},
	},
	{
		what: "waits with As that were told \"taken\" end in an outage",
		as:   "given up",
		edits: []edit{
			{file: "internal/lockstate/attempt.go", fn: "attempt.stuck", old: " || a.w.wasRefused() {", new: " {"},
			{file: "internal/waitqueue/outcome.go", fn: "Queue.Troubled", old: "if !w.Told && now-w", new: "if now-w"},
			{file: "internal/waitqueue/outcome.go", fn: "Queue.Open", old: "if w.Told {", new: "if false {"},
		},
	},
	{
		what:  "an Extend that was refused shortens trust to its lease",
		as:    "a hold was lost without a cause,trust",
		edits: []edit{{file: "internal/lockstate/extend.go", fn: "extension.send", old: "\th.extends = e\n", new: "\th.extends = e\n\th.end = min(h.end, e.end)\n"}},
	},
	{
		what:  "a hold granted between the two sends of a forced unlock that was lost lives on",
		as:    "trust",
		edits: []edit{{file: "internal/lockstate/force.go", fn: "forcing.end", old: "if r.MayHaveRun() {", new: "if r.Wire.Err == nil {"}},
	},
	{
		what: "MaxHold is forgotten after a nested unlock that failed",
		as:   "lease",
		edits: []edit{{file: "internal/lockstate/ownerlease.go", fn: "OwnerState.updateLease", old: "st.lease.RenewUntil(st.renewUntil())",
			new: "if st.renewUntil() == 0 {\n\t\t\tst.lease.SetRenew(clock.Never, clock.Never)\n\t\t}"}},
	},
	{
		what:  "a refused nested unlock keeps the outer hold from being renewed",
		as:    "a hold was lost without a cause",
		edits: []edit{{file: "internal/lockstate/release.go", fn: "release.Paused", old: "if !q.MayArrive {", new: "if !q.MayArrive && r.st == nil {"}},
	},
}
