package main

// waiting breaks the queue and what wakes it.
var waiting = []defect{
	{
		what: "the queue makes a re-entry wait",
		edits: []edit{{"rlock/waiter.go",
			"\tif once || w.terms.as {\n",
			"\tif once {\n"}},
		by: []catcher{{"integration/invariants", "TestA3SharedOwnerAndTryLockDoNotQueueFirst"}, {"integration/behaviour", "TestReentryPassesTheQueue"}},
	},
	{
		what: "a head that gives up does not hand its wake-up on",
		edits: []edit{{"rlock/attempt.go",
			"\tif a.leads() {\n\t\ta.t.n.line.flag = true\n\t}\n\ta.finish()\n",
			"\ta.finish()\n"}},
		by: []catcher{{"integration/invariants", "TestA3TryThatIsTakenBackHandsItsWakeUpOn"}},
	},
	{
		what: "a message that comes during a try is forgotten with it",
		edits: []edit{{"rlock/line.go",
			"\t} else if !ln.echo() {\n\t\tln.flag = true\n",
			"\t} else if !ln.echo() {\n\t\tln.flag = ln.current == nil\n"}},
		by: []catcher{{"integration/invariants", "TestA3MessageDuringTheHeadsTryOutlivesTheHead"}},
	},
	{
		what: "the hub does not wake after resubscribing",
		edits: []edit{{"pubsub/dispatch.go",
			"\t\tif s.is(waiting) {\n\t\t\ts.told = true\n",
			"\t\tif !s.told && s.is(waiting) {\n\t\t\ts.told = true\n"}},
		by: []catcher{{"pubsub", "TestP2ResubscribeWakesEverybody"}, {"integration/invariants", "TestP2AllWaitersTryAgainAfterAResubscribe"}},
	},
	{
		what: "the confirmed subscription is no reason to try",
		edits: []edit{{"rlock/line.go",
			"func (e *ear) Confirmed() { e.wake(false) }",
			"func (e *ear) Confirmed() {}"}},
		by: []catcher{{"integration/invariants", "TestA2MessageBetweenTryAndSubscriptionIsNotMissed"}},
	},
	{
		what: "each Lock tries by itself before it queues",
		edits: []edit{{"rlock/waiter.go",
			"\tif once || w.terms.as {\n",
			"\tif true {\n"}},
		by: []catcher{{"integration/invariants", "TestA3OneAttemptInFlightAndConstantCommandsPerHandOff"}},
	},
	{
		what: "PTTL −1 is taken for a time",
		edits: []edit{{"rlock/line.go",
			"\tif ttl < 0 || ttl > longestWait {\n",
			"\tif ttl > longestWait {\n"}},
		by: []catcher{{"integration/invariants", "TestA2EndlessPTTLNeitherSpinsNorOverflows"}},
	},
	{
		what: "PTTL 0 is waited for as it is",
		edits: []edit{{"rlock/line.go",
			"ln.n.c.early() + max(ttl, shortestWait)",
			"ln.n.c.early() + max(ttl, 0*shortestWait)"}},
		by: []catcher{{"integration/invariants", "TestA2ZeroPTTLDoesNotSpin"}},
	},
	{
		what: "the subscription stays when nobody waits",
		edits: []edit{{"rlock/line.go",
			"\t\tln.sub.Close()\n\t\tln.sub = nil\n",
			"\t\tln.sub = nil\n"}},
		by: []catcher{{"integration/behaviour", "TestManyOperationsLeaveNoChannelAndNoKey"}},
	},
}
