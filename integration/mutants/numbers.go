package main

// numbers breaks the rules of semaphores that nobody owns, and of count-down latches.
var numbers = []defect{
	{
		what: "a release tells 1 in place of what is free", guards: "numbers",
		edits: edits{inScript("semaphore_change", "tell(call('incrby', number, n))", "call('incrby', number, n) tell(1)")},
		by:    tests{"TestFreePermitsAreChangedOnceForEachReceipt", "TestBothLeaveTheSameOfNumbers"},
	},
	{
		what: "an acquire leaves no receipt", guards: "numbers",
		edits: edits{inScript("semaphore_acquire", "call('set', KEYS[2], ARGV[1], 'px', ARGV[2])", "")},
		by:    tests{"TestAcquireOfFreePermitsIsUndoneByItsReceipt", "TestSemaphoreIsExactThoughRepliesAreLost"},
	},
	{
		what: "a change leaves no receipt", guards: "numbers",
		edits: edits{inScript("semaphore_change", "call('set', receipt, result, 'px', ARGV[from])", "")},
		by:    tests{"TestFreePermitsAreChangedOnceForEachReceipt", "TestSemaphoreIsExactThoughRepliesAreLost"},
	},
	{
		what: "an acquire's receipt stays", guards: "numbers",
		edits: edits{{In: "Waiter.Result", If: "w.taken && err == nil", Put: "false"}},
		by:    tests{"TestSemaphoreIsExactThoughRepliesAreLost"},
	},
	{
		what: "a latch tells 0 at each count", guards: "numbers",
		edits: edits{inScript("count_down", "left == 0", "left <= 0")},
		by:    tests{"TestCountDownIsDoneOnceForEachReceipt", "TestBothLeaveTheSameOfNumbers"},
	},
	{
		what: "a count-down that was lost counts twice", guards: "numbers",
		edits: edits{inScript("count_down", "call('set', receipt, result, 'px', ARGV[from])", "")},
		by:    tests{"TestCountDownIsDoneOnceForEachReceipt", "TestLatchIsExactThoughRepliesAreLost"},
	},
	{
		what: "permits of nobody that came with a cancellation are not given back", guards: "numbers",
		edits: edits{{In: "Waiter.giveUp", If: "w.taken", Put: "false"}},
		by:    tests{"TestPermitsOfNobodyAreGivenBackThatNobodyWants"},
	},
	{
		what: "permits of nobody that come after a cancellation are not given back", guards: "numbers",
		edits: edits{{In: "attempt.taken", Case: "w.Settled", Put: "false"}},
		by:    tests{"TestPermitsOfNobodyAreGivenBackThatNobodyWants"},
	},
	{
		what: "permits of nobody that no replica has are kept", guards: "numbers",
		edits: edits{{In: "attempt.taken", Case: "r.Unreplicated", Put: "false"}},
		by:    tests{"TestPermitsThatNoReplicaHasAreGivenBack"},
	},
	{
		what: "a release ends with its context", guards: "numbers",
		edits: edits{{In: "lockstate.Lock.Change", If: "err != nil && !due", Put: "err != nil"}},
		by:    tests{"TestChangeThatIsDueIsSentThoughItsContextIsOver", "TestPermitsOfNobodyAreReleasedHoweverDoEnds"},
	},
	{
		what: "all who wait ask again, though one who wants as much was refused", guards: "numbers",
		edits: edits{{In: "Queue.afterRefusal", Expr: "next.Size > 0", Put: "false"}},
		by:    tests{"TestWaitersForAsManyPermitsLookOnce"},
	},
	{
		what: "nobody looks whether a message was lost", guards: "numbers",
		edits: edits{{In: "semaphore.Pause", Expr: "poll", Nth: 2, Put: "time.Minute"}, {In: "semaphore.Pause", Expr: "poll * 4 / 5", Put: "time.Minute"}},
		by:    tests{"TestSemaphoreAndLatchReplies", "TestLatchAndSemaphoreAreLookedAt"},
	},
}
