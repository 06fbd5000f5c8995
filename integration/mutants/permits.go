package main

// permits breaks the rules of a semaphore's permits.
var permits = []defect{
	{
		what: "an id is hex text, as Redisson had it before 3.21", guards: "permits",
		edits: edits{{
			In: "kind.PermitIDs", Expr: "string(sum[:16])",
			Put: `func() (text string) { for _, b := range sum[:16] { text += "0123456789abcdef"[b>>4:b>>4+1] + "0123456789abcdef"[b&15:b&15+1] }; return text }()`,
		}},
		by: tests{"TestPermitIDsAreOfTheirOwner", "TestBothLeaveTheSameOnTheServer"},
	},
	{
		what: "a receipt is gone before a repetition", guards: "permits",
		edits: edits{{In: "lockstate.Lock.Change", Expr: "c.args.latchTTL", Put: "1"}},
		by:    tests{"TestPermitsAreExactThoughRepliesAreLost"},
	},
	{
		what: "a change without an answer is not sent again", guards: "permits",
		edits: edits{{In: "change.start", Expr: "call.Resend", Put: "kind.Never"}},
		by:    tests{"TestPermitsAreExactThoughRepliesAreLost"},
	},
	{
		what: "a receipt stays", guards: "permits",
		edits: edits{{In: "change.Done", If: "r.Fate == command.Answered && !r.MayArrive", Put: "false"}},
		by:    tests{"TestPermitsAreExactThoughRepliesAreLost"},
	},
	{
		what: "permits that came with the end of a wait are not given back", guards: "permits",
		edits: edits{{In: "Waiter.giveUp", Stmt: "h.giveBack()", Remove: true}, {In: "attempt.grantedInVain", Stmt: "h.giveBack()", Nth: 2, Remove: true}},
		by:    tests{"TestPermitsAreGivenBackThatNobodyWants"},
	},
	{
		what: "the text of an owner keeps a release of permits from being repeated", guards: "permits",
		edits: edits{{In: "releasing.facts", Expr: "r.l.traits.Latched && st.shown()", Put: "st.shown()"}},
		by:    tests{"TestPermitsAreExactThoughRepliesAreLost"},
	},
	{
		what: "a receipt may be in another slot", guards: "permits",
		edits: edits{{In: "lockstate.Lock.Scattered", If: "!codec.SlotSafe(l.Key())", Put: "l.traits.Latched && !codec.SlotSafe(l.Key())"}},
		by:    tests{"TestEveryNameOfAKindMustBeInTheLocksSlot"},
	},
	{
		what: "a message wakes one who waits for permits", guards: "permits",
		edits: edits{{In: "permits.Wake", Expr: "max(n, 0)", Put: "min(max(n, 0), 1)"}},
		by:    tests{"TestPermitMessagesWakeByTheirNumber"},
	},
	{
		what: "one who wants few permits waits behind one who wants many", guards: "permits",
		edits: edits{{In: "Queue.afterRefusal", Stmt: "q.wake(q.current.left + 1)", Put: "q.current.next = nil"}},
		by:    tests{"TestWaiterForPermitsIsWoken"},
	},
	{
		what: "permits of this client are given up by their ids", guards: "permits",
		edits: edits{{In: "PermitSemaphore.rawIDs", If: "s.lock.l.AnyHeld(func(h kind.Held) bool { return kind.HasPermit(h, seen) })", Put: "false"}},
		by:    tests{"TestPermitsByTheirIDs"},
	},
	{
		what: "the permits of others in a batch are renewed as one's own", guards: "permits",
		edits: edits{{In: "permits.Renew", Expr: "h.Kind.(permits).ids(h.Owner)", Put: "PermitIDs(h.Owner.String(), 1)"}},
		by:    tests{"TestPermitCalls", "TestPermitsOfOneAcquireAreLostTogether"},
	},
}
