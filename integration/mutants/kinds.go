package main

// kinds breaks what lock objects of several kinds need of the common machinery.
var kinds = []defect{
	{
		what: "a message for several waiters wakes one",
		edits: []edit{{"internal/lockstate/waitqueue.go",
			"q.Queue.Message(q.now(), n)",
			"q.Queue.Message(q.now(), 1)"}},
		by: []catcher{{"internal/lockstate", "TestMessageLetsInAsManyAsItSays"}},
	},
	{
		what: "a refused waiter keeps the wake-up that one behind it could use",
		edits: []edit{{"internal/waitqueue/rules.go",
			"\t\tq.wake(q.current.left + 1)\n",
			"\t\tq.current.next = nil\n"}},
		by: []catcher{{"internal/waitqueue", "TestRefusalPassesTheWakeUpOn"}},
	},
	{
		what: "an open gate lets one waiter through",
		edits: []edit{{"internal/waitqueue/outcome.go",
			"\tif q.rules.Gate {\n",
			"\tif false {\n"}},
		by: []catcher{{"internal/lockstate", "TestOneGrantLetsAllThrough"}, {"internal/waitqueue", "TestOneGrantOpensAGate"}},
	},
	{
		what: "a grant to one of several ends the others' holds",
		edits: []edit{{"internal/lockstate/grant.go",
			"\tif w.l.traits.Width == 1 {\n",
			"\tif true {\n"}},
		by: []catcher{{"internal/lockstate", "TestMessageLetsInAsManyAsItSays"}},
	},
	{
		what: "a waiter that gives up stays in the server's queue",
		edits: []edit{{"internal/lockstate/waiter.go",
			"\tw.leaveServer()\n\tn.step()",
			"\tn.step()"}},
		by: []catcher{{"internal/lockstate", "TestWaiterThatGivesUpLeavesTheServersQueue"}},
	},
	{
		what: "an undo leaves its owner in the server's queue",
		edits: []edit{{"internal/lockstate/release.go",
			"\tif len(r.rest) > 0 {\n",
			"\tif false {\n"}},
		by: []catcher{{"internal/lockstate", "TestLostTryLeavesTheServersQueueAndItsWaiterListensAnew"}},
	},
	{
		what:  "an owner that holds of two kinds loses both with one",
		edits: []edit{{"internal/lockstate/ownerstate.go", "\tif st.tally(l) == st.held {\n", "\tif true {\n"}},
		by:    []catcher{{"internal/lockstate", "TestOwnerOfTwoKindsIsRenewedAsBoth"}},
	},
	{
		what: "kinds of two families on one key meet",
		edits: []edit{{"internal/lockstate/shard.go",
			"\tfor n != nil && n.l.traits.Family != l.traits.Family {\n",
			"\tfor false {\n"}},
		by: []catcher{{"internal/lockstate", "TestKindsOfTwoFamiliesOnOneKeyDoNotMeet"}},
	},
	{
		what:  "waiters of a spin lock try without a pause that grows",
		edits: []edit{{"internal/kind/spin.go", "\t\tpause = firstSpin << doublings\n", "\t\tpause = firstSpin\n"}},
		by:    []catcher{{"internal/kind", "TestSpinPausesDoubleTo128Milliseconds"}},
	},
	{
		what: "a spin lock's waiters stand in the plain lock's queue",
		edits: []edit{{"internal/kind/spin.go",
			"\tQueue:      \"spin\",\n",
			""}},
		by: []catcher{{"rlock", "TestForcedSpinLockIsLostAndPublishesNothing"}},
	},
}
