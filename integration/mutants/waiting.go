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
		edits: edits{{In: "Queue.unsubscribe", Stmt: "q.todo.unsubscribe = _", Remove: true}},
		by:    tests{"TestQueueThatNeverHandedOnUnsubscribesAtOnce", "TestManyOperationsLeaveNoChannelAndNoKey"},
	},
	{
		what: "a message that comes during a try is forgotten with it", guards: "P3",
		edits: edits{{In: "Queue.Message", Call: "q.wake", Put: "if q.leading == nil { q.wake(n) }"}},
		by:    tests{"TestA3MessageDuringTheHeadsTryOutlivesTheHead", "TestMessageDuringTheHeadsTryOutlivesTheHead"},
	},
	{
		what: "a channel stays subscribed without its last subscription", guards: "hub's references, P1",
		edits: edits{{In: "Subscription.Close", Call: "t.reconcile", Remove: true}},
		by:    tests{"TestP1ChannelIsSubscribedWhileSomebodyWaits"},
	},
	{
		what: "the hub does not wake after resubscribing", guards: "P2",
		edits: edits{{In: "dispatcher.confirm", If: "s.is(waiting)", Put: "!s.toldConfirmed && s.is(waiting)"}},
		by:    tests{"TestP2ResubscribeWakesEverybody"},
	},
	{
		what: "the next waiter of the client waits for the message", guards: "hand-off",
		edits: edits{{In: "Queue.HandOff", Call: "q.lead", Remove: true}},
		by:    tests{"TestHandOffMakesTheHeadsAttemptAtOnce", "TestHandOffWithinAClientIsOneRoundTrip"},
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
}
