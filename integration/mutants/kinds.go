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
		what: "a grant to one of several ends the others' holds", guards: "kinds",
		edits: edits{{In: "name.supersede", If: "width == 1", Put: "true"}, {In: "attempt.granted", Expr: "w.l.traits.Width == 1", Put: "true"}},
		by:    tests{"TestMessageLetsInAsManyAsItSays"},
	},
	{
		what: "a grant to read leaves a hold of this client that writes", guards: "kinds",
		edits: edits{{In: "attempt.granted", Expr: "n.exclusive > st.exclusive()", Put: "false"}},
		by:    tests{"TestGrantToAReaderEndsWhatOthersWrite"},
	},
	{
		what: "a waiter that gives up stays in the server's queue", guards: "kinds",
		edits: edits{{In: "Waiter.giveUp", Call: "leaveServer", Remove: true}},
		by:    tests{"TestWaiterThatGivesUpLeavesTheServersQueue"},
	},
	{
		what: "an undo leaves its owner in the server's queue", guards: "kinds",
		edits: edits{{In: "releasing.act", Case: "do.Has(release.End) && len(r.rest) > 0", Put: "false"}},
		by:    tests{"TestLostTryLeavesTheServersQueueAndItsWaiterListensAnew"},
	},
	{
		what: "an owner that holds of two kinds loses both with one", guards: "kinds",
		edits: edits{{In: "OwnerState.loseTally", If: "st.tally(l) == st.held", Put: "true"}},
		by:    tests{"TestOwnerOfTwoKindsIsRenewedAsBoth"},
	},
	{
		what: "kinds of two families on one key meet", guards: "kinds",
		edits: edits{{In: "shard.find", Expr: "n.l.traits.Family != l.traits.Family", Put: "false"}},
		by:    tests{"TestKindsOfTwoFamiliesOnOneKeyDoNotMeet"},
	},
	{
		what: "waiters of a spin lock try without a pause that grows", guards: "kinds",
		edits: edits{{In: "spin.Pause", Stmt: "pause = firstSpin << doublings", Put: "pause = firstSpin"}},
		by:    tests{"TestSpinPausesDoubleTo128Milliseconds"},
	},
	{
		what: "a spin lock's waiters stand in the plain lock's queue", guards: "kinds",
		edits: edits{{In: "name.findQueue", Expr: "q.l.traits.Queue == l.traits.Queue", Put: "true"}},
		by:    tests{"TestForcedSpinLockIsLostAndPublishesNothing"},
	},
}
