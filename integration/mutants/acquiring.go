package main

// acquiring breaks how a lock is taken and how a lost acquire is undone.
var acquiring = []defect{
	{
		what: "each NOSCRIPT loads the script", guards: "A1",
		edits: edits{{In: "Pipeline.complete", If: "ld == nil || _", Put: "true"}},
		by:    tests{"TestA1ScriptIsLoadedOnceForAllWhoMissIt", "TestA1NoScriptLoadsOnce"},
	},
	{
		what: "the confirmed subscription is no reason to try", guards: "A2",
		edits: edits{{In: "Queue.Confirmed", Stmt: "q.wake(kind.All)", Put: "_ = kind.All"}},
		by:    tests{"TestA2MessageBetweenTryAndSubscriptionIsNotMissed", "TestResubscriptionMakesTheHeadTry"},
	},
	{
		what: "each Lock tries by itself before it queues", guards: "A3",
		edits: edits{{In: "lockstate.Waiter.join", If: "w.OneTry || w.Terms.As || q.Roomy()", Put: "true"}},
		by:    tests{"TestA3OneAttemptInFlightAndConstantCommandsPerHandOff"},
	},
	{
		what: "a grant that meets the end of its context is returned to nobody", guards: "A4",
		edits: edits{{In: "Waiter.giveUp", Call: "h.giveBack", Remove: true}},
		by:    tests{"TestA4ContextThatEndsBetweenGrantAndReturnWins"},
	},
	{
		what: "a lost acquire is not undone", guards: "A5",
		edits: edits{{In: "attempt.notAnswered", Call: "a.undo", Put: "a.resolve()"}},
		by:    tests{"TestA5LostAcquireReplyIsUndone"},
	},
	{
		what: "an acquire that was taken back unwritten counts as sent", guards: "A5",
		edits: edits{{In: "attempt.cancel", Stmt: "a.queued, a.w.ownerUsed = false, false", Put: "a.queued = false"}},
		by:    tests{"TestA5TryThatIsNotWrittenIsNotUncertain"},
	},
	{
		what: "what stands behind a write that failed is called lost", guards: "pipeline",
		edits: edits{{In: "conn.lose", Case: "number < c.begun", Put: "true"}},
		by:    tests{"TestBatchBehindAFailedWriteIsNotSent"},
	},
	{
		what: "one hold more of an owner that others may use is taken for the lost acquire", guards: "A5",
		edits: edits{{In: "State.Exclusive", Expr: "o.thread > c.actors.shared.of(o).Load()", Put: "true"}},
		by:    tests{"TestA5HoldOfAnotherClientIsNotUndone"},
	},
	{
		what: "a wait of nothing is not one attempt", guards: "A6",
		edits: edits{{In: "Waiter.Start", Stmt: "w.OneTry = w.Terms.HasWait && w.Terms.Wait == 0", Put: "w.OneTry = false"}},
		by:    tests{"TestWaitOfNothing"},
	},
	{
		what: "an elapsed wait that nobody answered says \"locked\"", guards: "A6",
		edits: edits{{In: "Waiter.lastSaidTaken", Stmt: "return facts.Told || facts.Known", Put: "return true"}},
		by:    tests{"TestA6UnreachableServerIsNeither"},
	},
	{
		what: "a lock that this client has released is known to be taken", guards: "A6",
		edits: edits{{In: "Queue.HandOff", Stmt: "q.taken = false", Remove: true}},
		by:    tests{"TestA6LockThatWasReleasedHereIsNotSaidToBeTaken", "TestNameIsNotKnownToBeTakenAfterItsRelease"},
	},
	{
		what: "a lock whose release was announced is known to be taken", guards: "A6",
		edits: edits{{In: "Queue.Message", Stmt: "q.taken = false", Remove: true}},
		by:    tests{"TestNameIsNotKnownToBeTakenAfterItsRelease"},
	},
	{
		what: "a re-entry that was told \"taken\" gives up in an outage", guards: "A7",
		edits: edits{{In: "Queue.Open", Expr: "!w.Told", Put: "true"}, {In: "Queue.retryUnqueued", Expr: "!w.Told", Put: "true"}},
		by:    tests{"TestA7ToldReentriesSurviveAnOutage", "TestToldReentrySurvivesAnOutage"},
	},
}
