package main

// multi breaks what several locks that are acquired together need.
var multi = []defect{
	{
		what: "a round keeps what it got when a member is refused", guards: "multi",
		edits: edits{{In: "MultiHold.giveBack", If: "len(h.holds) > 0", Put: "false"}},
		by:    tests{"TestMultiLockHoldsAllMembersOrNone"},
	},
	{
		what: "a round never ends", guards: "multi",
		edits: edits{{In: "MultiLock.acquire", Expr: "roundFor * time.Duration(len(m.members))", Put: "time.Hour"}},
		by:    tests{"TestMultiLocksInOppositeOrdersEndTheirRounds"},
	},
	{
		what: "a round does not grow with the number of locks", guards: "multi",
		edits: edits{{In: "MultiLock.acquire", Expr: "roundFor * time.Duration(len(m.members))", Put: "roundFor"}},
		by:    tests{"TestMultiLockKeepsWhatItHasForItsRound"},
	},
	{
		what: "a round without an answer ends the wait for several", guards: "multi",
		edits: edits{{In: "MultiLock.acquire", Expr: "errors.Is(err, ErrUncertain)", Put: "false"}},
		by:    tests{"TestMultiLockOutlastsARoundWithoutAnAnswer"},
	},
	{
		what: "an outage ends the wait for several that was told", guards: "multi, A7",
		edits: edits{{In: "MultiLock.acquire", Stmt: "told = told || errors.Is(err, ErrLocked)", Remove: true}},
		by:    tests{"TestMultiLockOutlastsTheServer"},
	},
	{
		what: "an unlock of several stops at a lost member", guards: "multi",
		edits: edits{{In: "MultiHold.each", Stmt: "all.Go(func() { errs[i] = do(one) })", Put: "if errs[i] = do(one); errs[i] != nil { break }"}},
		by:    tests{"TestMultiHoldEndsWithItsFirstMember"},
	},
	{
		what: "a hold of several looks at its first member only", guards: "multi",
		edits: edits{{In: "MultiHold.Err", Expr: "h.holds", Nth: 2, Put: "h.holds[:min(1, len(h.holds))]"}},
		by:    tests{"TestMultiHoldEndsWithItsFirstMember"},
	},
	{
		what: "a hold of several is valid until its last member ends", guards: "multi",
		edits: edits{{In: "MultiHold.ValidUntil", Call: "until.Before", Put: "until.After(earliest)"}},
		by:    tests{"TestMultiHoldIsValidUntilItsFirstMemberEnds"},
	},
	{
		what: "several locks are granted though one was lost before its lease was set", guards: "multi",
		edits: edits{{In: "MultiLock.round", Stmt: "err = h.Extend(ctx, t.Lease)", Put: "_ = h.Extend(ctx, t.Lease)"}},
		by:    tests{"TestMultiLockSetsNobodyElsesLease"},
	},
	{
		what: "several locks keep the lease of their round", guards: "multi",
		edits: edits{{In: "MultiLock.round", Call: "h.Extend", Put: "nil"}},
		by:    tests{"TestMultiLockSetsTheLeaseOfAllItsMembersAtLast"},
	},
}
