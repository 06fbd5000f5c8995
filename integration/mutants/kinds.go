package main

// kinds breaks what lock objects of several kinds need of the common machinery.
var kinds = []defect{
	{
		what: "a message for several waiters wakes one", guards: "kinds",
		edits: edits{{In: "subscriber.Message", Call: "q.Queue.Message", Arg: 2, Put: "1"}},
		by:    tests{"TestMessageLetsInAsManyAsItSays"},
	},
	{
		what: "a refused waiter keeps the wake-up that one behind it could use", guards: "kinds",
		edits: edits{{In: "Queue.afterRefusal", Stmt: "q.wake(q.current.left + 1)", Put: "q.current.next = nil"}},
		by:    tests{"TestRefusalPassesTheWakeUpOn"},
	},
	{
		what: "an open gate lets one waiter through", guards: "kinds",
		edits: edits{{In: "Queue.Granted", If: "q.rules.Gate", Put: "false"}},
		by:    tests{"TestOneGrantLetsAllThrough", "TestOneGrantOpensAGate"},
	},
	{
		what: "an open gate lets those through who came after the question", guards: "kinds",
		edits: edits{{In: "Queue.openGate", If: "!w.late", Put: "true"}},
		by:    tests{"TestGateIsOpenedForThoseWhoCameBeforeTheQuestion"},
	},
	{
		what: "a grant to one of several ends the others' holds", guards: "kinds",
		edits: edits{{In: "name.supersede", If: "width == 1", Put: "true"}, {In: "attempt.granted", Expr: "w.l.traits.Width == 1", Put: "true"}},
		by:    tests{"TestMessageLetsInAsManyAsItSays"},
	},
	{
		what: "a grant to read leaves a hold of this client that writes", guards: "kinds",
		edits: edits{{In: "attempt.granted", Expr: "n.exclusive > 0", Put: "false"}},
		by:    tests{"TestGrantToAReaderEndsWhatOthersWrite"},
	},
	{
		what: "a waiter that gives up stays in the server's queue", guards: "kinds",
		edits: edits{{In: "Waiter.giveUp", Call: "leaveServer", Remove: true}},
		by:    tests{"TestWaiterThatGivesUpLeavesTheServersQueue"},
	},
	{
		what: "an undo leaves its owner in the server's queue", guards: "kinds",
		edits: edits{{In: "releasing.act", Case: "do.Has(release.End) && !r.last.Empty()", Put: "false"}},
		by:    tests{"TestLostTryLeavesTheServersQueueAndItsWaiterListensAnew"},
	},
	{
		what: "an owner that holds of two kinds loses both with one", guards: "kinds",
		edits: edits{{In: "OwnerState.end", Expr: "h.l.traits.Tally == l.traits.Tally", Put: "true"}},
		by:    tests{"TestOwnerOfTwoKindsIsRenewedAsBoth"},
	},
	{
		what: "kinds of two families on one key meet", guards: "kinds",
		edits: edits{{In: "lockstate.Lock.nameKey", Expr: "l.traits.Family", Put: `""`}},
		by:    tests{"TestKindsOfTwoFamiliesOnOneKeyDoNotMeet"},
	},
	{
		what: "newcomers wait for each other where any number may hold", guards: "kinds",
		edits: edits{{In: "Queue.Roomy", Expr: "q.wide()", Put: "false"}},
		by:    tests{"TestNewcomersDoNotWaitForEachOthersAnswer", "TestNewcomersTryAtOnceUntilOneWasRefused"},
	},
	{
		what: "whom a grant lets try, where any number may hold, try one by one", guards: "kinds",
		edits: edits{{In: "Queue.afterGrant", Case: "q.wide() && !q.rules.PassOn", Put: "false"}},
		by:    tests{"TestNewcomersTryAtOnceUntilOneWasRefused", "TestMessageWakesAsManyAsItIsWorth"},
	},
	{
		what: "an acquire can't announce", guards: "kinds",
		edits: edits{{In: "Waiter.want", Expr: "w.l.publish()", Put: "nil"}},
		by:    tests{"TestWhoFindsTheLockFreeTellsWhoIsFirst"},
	},
	{
		what: "a kind's own refusal is a refusal for now", guards: "kinds",
		edits: edits{{In: "attempt.Done", Case: "g.Refused != nil", Put: "false"}},
		by:    tests{"TestKindsOwnRefusalEndsTheWaitAndUndoesNothing"},
	},
	{
		what: "no name of a kind is looked at for its slot in a cluster", guards: "kinds",
		edits: edits{{In: "lockstate.Lock.Scattered", Expr: "l.names[1:]", Put: "l.names[:0]"}},
		by:    tests{"TestEveryNameOfAKindMustBeInTheLocksSlot"},
	},
	{
		what: "a force ends holds before it knows that there is anything to be forced", guards: "kinds",
		edits: edits{{In: "lockstate.Lock.ForceUnlock", Expr: "!a.Yes", Put: "!a.Yes && false"}},
		by:    tests{"TestForceEndsTheHoldsOfBothKindsIfItsOwnIsHeld"},
	},
	{
		what: "waiters of a spin lock try without a pause that grows", guards: "kinds",
		edits: edits{{In: "spin.Pause", Stmt: "pause = firstSpin << doublings", Put: "pause = firstSpin"}},
		by:    tests{"TestSpinPausesDoubleTo128Milliseconds"},
	},
	{
		what: "a fenced lock's token is read when it is asked for", guards: "kinds",
		edits: edits{{
			In: "lockstate.Hold.Token", Stmt: "defer h.l.s.enter(mustNotBlock).leave()",
			Put: "if a, err := h.l.Ask(context.Background(), 255, Owner{}); err == nil {\nreturn a.N\n}",
		}, {
			In: "lockstate.Lock.Ask", Stmt: "query := l.kind.Ask(q, &kind.Want{Names: &l.names, Owner: o})",
			Before: "if q == 255 {\nq = kind.LastToken\n}", // the other file does not import package kind
		}},
		by: tests{"TestTokenIsTheGrantsOwn"},
	},
	{
		what: "a lock that never expires is a grant without a token", guards: "kinds",
		edits: edits{{In: "fenced.Granted", Expr: "token > 0", Put: "token > 0 || ttl < 0"}},
		by:    tests{"TestFencedLockThatNeverExpiresIsAnothers", "TestFencedGrantHasATokenOfOneAtLeast"},
	},
	{
		what: "an outer hold goes on with its older token", guards: "kinds",
		edits: edits{{In: "attempt.granted", If: "token > 0", Put: "token > 0 && st.held == 1"}},
		by:    tests{"TestEachGrantOfAFencedLockHasAHigherToken", "TestTokenOfALostGrantIsUsedUp"},
	},
	{
		what: "a token goes with what the owner's commands take", guards: "kinds",
		edits: edits{{In: "OwnerState.goOn", Stmt: "r.queue = r.queue[1:]", Put: "*r = ownerExtras{queue: r.queue[1:]}"}},
		by:    tests{"TestTokenOutlastsWhatTheOwnersCommandsTake"},
	},
	{
		what: "a non-reentrant lock's own owner waits for itself", guards: "kinds",
		edits: edits{{In: "nonReentrant.Granted", Stmt: "return Grant{Refused: ErrReentered}, nil", Put: "return Grant{TTL: 1000000000}, nil"}},
		by:    tests{"TestNonReentrantLockRefusesItsOwnerForGood"},
	},
	{
		what: "a spin lock's waiters stand in the plain lock's queue", guards: "kinds",
		edits: edits{{In: "name.findQueue", Expr: "q.l.traits.Queue == l.traits.Queue", Put: "true"}},
		by:    tests{"TestForcedSpinLockIsLostAndPublishesNothing"},
	},
	{
		what: "an unlock of a fair lock that is sent again counts again", guards: "R1",
		edits: edits{inScript("fair_unlock", "if earlier then", "if false then")},
		by:    tests{"TestFaultsByKind"},
	},
	{
		what: "an unlock to read that is sent again counts again", guards: "R1",
		edits: edits{inScript("read_unlock", "if earlier then", "if false then")},
		by:    tests{"TestFaultsByKind"},
	},
	{
		what: "an unlock to write that is sent again counts again", guards: "R1",
		edits: edits{inScript("write_unlock", "if earlier then", "if false then")},
		by:    tests{"TestKinds"},
	},
	{
		what: "a place in a fair lock's queue that is given up again takes time off again", guards: "fair",
		edits: edits{inScript("fair_leave", "local place\n", "local place = not call('zscore', times, owner) and 0\n")},
		by:    tests{"TestFaultsByKind"},
	},
}
