package main

// fair breaks the rules of a fair lock's queue.
var fair = []defect{
	{
		what: "who gives up takes nothing off the time of those behind", guards: "fair",
		edits: edits{{In: "fair.Leave", Expr: "k.place(w)", Put: "0"}},
		by:    tests{"TestFairWaiterThatGivesUpLeavesAtOnce"},
	},
	{
		what: "who gives up stays in the queue", guards: "fair",
		edits: edits{{In: "fair.Leave", If: "w.OneTry", Put: "true"}},
		by:    tests{"TestFairWaiterThatGivesUpLeavesAtOnce", "TestFairAcquireThatQueuedAndWasLostQueuesAnew"},
	},
	{
		what: "an entry of the queue has no time", guards: "fair",
		edits: edits{{In: "fair.Acquire", Expr: "n[timesName]", Put: `"nowhere"`}},
		by:    tests{"TestFairWaiterThatGivesUpLeavesAtOnce", "TestPlaceThatJavaLeavesIsPassedWhenItsTimeIsOver"},
	},
	{
		what: "who finds the lock free does not tell the head", guards: "fair",
		edits: edits{{In: "fair.Acquire", Expr: "n[channelName]", Put: `"nowhere"`}},
		by:    tests{"TestWhoFindsAFairLockFreeTellsTheHead", "TestHeadOfOldJavaIsWokenByGoAfterTheHolderDied"},
	},
	{
		what: "a wait with a limit counts as one without", guards: "fair",
		edits: edits{{In: "fair.place", If: "w.Wait <= 0", Put: "true"}},
		by:    tests{"TestFairWaiterThatGivesUpLeavesAtOnce"},
	},
	{
		what: "each caller of one owner has a wait of its own", guards: "fair",
		edits: edits{{In: "waitQueue.choosePlace", If: "q.place < 0 || !q.l.traits.ByOwner", Put: "true"}},
		by:    tests{"TestCallersOfOneOwnerShareAPlace"},
	},
	{
		what: "one attempt takes a place", guards: "fair",
		edits: edits{{In: "fair.Acquire", If: "w.OneTry", Put: "false"}},
		by:    tests{"TestFairLockIsNotTakenFromWhoeverWaits"},
	},
	{
		what: "all look behind an unlock that found nothing", guards: "fair",
		edits: edits{{In: "name.wakeHead", If: "!q.l.traits.ByOwner", Put: "true"}},
		by:    tests{"TestFairHandOffCostsTheSameHoweverManyWait"},
	},
	{
		what: "a waiter behind others does not look by itself", guards: "fair",
		edits: edits{{In: "fair.Pause", Case: "g.TTL < 0 || g.TTL > longestFairPause", Put: "false"}},
		by:    tests{"TestFairPausesAreBounded", "TestFairPlaceIsLostAfterItsTimeAndTakenAnew"},
	},
	{
		what: "whose turn it is asks all the time at the end of a lease", guards: "fair",
		edits: edits{{In: "fair.Pause", Expr: "max(g.TTL, shortestFairPause)", Put: "g.TTL"}},
		by:    tests{"TestFairPausesAreBounded"},
	},
	{
		what: "a waiter listens on the plain lock's channel", guards: "fair",
		edits: edits{{In: "fair.Channel", Expr: "codec.FairChannel(n.Key(), o.String())", Put: "codec.Channel(n.Key())"}},
		by:    tests{"TestFairLockOfAClusterGoesInOrder"},
	},
	{
		what: "a waiter takes another owner after a try that did not run", guards: "fair",
		edits: edits{{In: "attempt.didNotRun", Stmt: "a.w.ownerUsed = false", Remove: true}},
		by:    tests{"TestFairWaiterKeepsItsPlaceThroughAnOutage"},
	},
}
