package main

// waiting breaks the queue, what wakes it, and what it shares with others.
var waiting = []defect{
	{
		what: "a head that gives up does not hand its wake-up on", guards: "queue's actions, A3",
		edits: edits{{In: "Queue.unsent", Call: "q.wake", Remove: true}},
		by:    tests{"TestA3TryThatIsTakenBackHandsItsWakeUpOn", "waitqueue.TestHeadThatGivesUpHandsItsWakeUpOn"},
	},
	{
		what: "the subscription stays when nobody waits", guards: "queue's actions, P1, E2",
		edits: edits{{In: "Queue.Next", Case: "asked.subscribed && !q.subscribed", Put: "false"}},
		by:    tests{"TestQueueThatNeverHandedOnUnsubscribesAtOnce", "TestManyOperationsLeaveNoChannelAndNoKey"},
	},
	{
		what: "a message that comes during a try is forgotten with it", guards: "P3",
		edits: edits{{In: "Queue.Message", Call: "q.wake", Put: "if q.leading == nil { q.wake(n) }"}},
		by:    tests{"TestA3MessageDuringTheHeadsTryOutlivesTheHead", "TestMessageDuringTheHeadsTryOutlivesTheHead"},
	},
	{
		what: "each message of a storm is a try", guards: "P3",
		edits: edits{{In: "Queue.use", Stmt: "q.wakes = 0", Put: "q.wakes--"}},
		by:    tests{"TestStormOfMessagesIsOneLook"},
	},
	{
		what: "a channel stays subscribed without its last subscription", guards: "hub's references, P1",
		edits: edits{{In: "Subscription.Close", Call: "s.hub.reconcile", Remove: true}},
		by:    tests{"TestP1ChannelIsSubscribedWhileSomebodyWaits"},
	},
	{
		what: "the hub does not wake after resubscribing", guards: "P2",
		edits: edits{{In: "Hub.confirm", If: "s.is(waiting)", Put: "!s.toldConfirmed && s.is(waiting)"}},
		by:    tests{"TestP2ResubscribeWakesEverybody"},
	},
	{
		what: "the next waiter of the client waits for the message", guards: "hand-off",
		edits: edits{{In: "Queue.HandOff", Call: "q.lead", Remove: true}},
		by:    tests{"TestHandOffMakesTheHeadsAttemptAtOnce", "TestHandOffWithinAClientIsOneRoundTrip"},
	},
	{
		what: "quick messages put attempts off where nothing is handed on", guards: "wake policy",
		edits: edits{{In: "Queue.Message", Expr: "own || q.rules.HandOffs == 0", Put: "own"}},
		by:    tests{"TestQuickMessagesPutNothingOffWhereNothingIsHandedOn"},
	},
	{
		what: "a spin lock's waiter pauses while its own client releases", guards: "hand-off",
		edits: edits{{In: "Queue.HandOff", If: "q.rules.HandOffs == 0", Put: "q.rules.HandOffs == 0 || q.rules.Silent"}},
		by:    tests{"TestSpinLockIsHandedOnWithoutAMessage"},
	},
	{
		what: "a client that is ahead never steps back", guards: "wake policy",
		edits: edits{{In: "FairShare.YieldUntil", Stmt: "return at", Put: "return 0"}},
		by:    tests{"TestShares"},
	},
	{
		what: "each message of a crowd puts a try off that is due", guards: "wake policy",
		edits: edits{{In: "throttle.observeRelease", If: "t.delayedUntil == 0", Put: "t.delayedUntil <= now"}},
		by:    tests{"TestMessageLeavesATryThatIsDue"},
	},
	{
		what: "a caller that is refused looks for its owner's state", guards: "crowds",
		edits: edits{{In: "Waiter.leaveServer", Stmt: "w.refused = false", Put: "w.refused = false; w.n.ensureOwnerState(w.owner).dropIfIdle()"}},
		by:    tests{"TestRefusedCallerLeavesInOneStep"},
	},
	{
		what: "a caller that is refused looks among all who wait", guards: "crowds",
		edits: edits{{In: "Waiter.leaveServer", If: "call.Empty() || _", Put: "w.Terms.As && w.waitsWithOthers() || call.Empty()"}},
		by:    tests{"TestRefusedCallerLeavesInOneStep"},
	},
	{
		what: "a reader that was busy gives its connection up", guards: "crowds",
		edits: edits{{In: "conn.expired", If: "c.late != nil || _", Put: "true"}},
		by:    tests{"TestReaderThatWasBusyBeyondTheDeadlineReadsWhatHasCome"},
	},
	{
		what: "an owner of a crowd is looked for in the list", guards: "crowds",
		edits: edits{{In: "name.findOwnerState", If: "n.index != nil", Put: "false"}},
		by:    tests{"TestOwnerOfACrowdIsFoundInAFewSteps"},
	},
	{
		what: "each grant looks for other holders", guards: "crowds",
		edits: edits{{In: "attempt.granted", Expr: "n.holders > min(st.held, 1)", Put: "true"}},
		by:    tests{"TestGrantLooksForOtherHoldersOnlyIfThereAreAny"},
	},
	{
		what: "an owner that came to hold is looked for among all who wait", guards: "crowds",
		edits: edits{{In: "Queue.LetThrough", Expr: "q.shared[owner]", Put: "func() *Waiter { w := q.waiting.head; for w != nil && w.Shared != owner { w = w.next }; return w }()"}},
		by:    tests{"TestOwnersWaitersAreFoundAmongACrowdInAFewSteps"},
	},
	{
		what: "the timer deals with all of a crowd beside the queue at once", guards: "crowds",
		edits: edits{{In: "Queue.retryUnqueued", Expr: "atOnce", Put: "len(q.dues)"}},
		by:    tests{"TestTimerDealsWithACrowdInParts"},
	},
	{
		what: "the timer deals with all of a crowd in the queue at once", guards: "crowds",
		edits: edits{{In: "Queue.failUnanswered", Expr: "atOnce", Put: "q.waiting.size"}},
		by:    tests{"TestTimerDealsWithACrowdInParts"},
	},
	{
		what: "whose pause has ended is looked for among all beside the queue", guards: "crowds",
		edits: edits{{In: "Queue.retryUnqueued", Expr: "q.dues[0]", Put: "func() *Waiter { w := q.unqueued.head; for w.dueAt == 0 || w.dueAt > now { w = w.next }; return w }()"}},
		by:    tests{"TestPausesOfACrowdEndWithoutALookAtTheOthers"},
	},
}
