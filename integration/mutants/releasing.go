package main

// releasing breaks the unlock, the end of a client, and what is asked of a caller.
var releasing = []defect{
	{
		what: "each send of an unlock has a latch of its own", guards: "R1",
		edits: edits{{In: "releasing.send", If: "!n.l.s.sec.enqueue(q)", Before: "r.want.Latch = codec.FreshLatch(r.l.Key()); r.encode()"}},
		by:    tests{"TestR1LostUnlockReplyCountsOnce"},
	},
	{
		what: "a repeated unlock that finds nothing was never held, though its announcement is refused", guards: "R1",
		edits: edits{{In: "Release.answeredLatched", If: "wasLost && m.Why.Living() && !m.Rules.Silent", Put: "false"}},
		by:    tests{"TestR1RepetitionThatFindsNothingIsNotHeldOnlyIfTheUnlockCouldRun"},
	},
	{
		what: "a renewal that no replica acknowledged is relied on", guards: "H1",
		edits: edits{{In: "renewal.Done", Case: "mine[i] && q.Unreplicated", Put: "false"}},
		by:    tests{"TestRenewalThatNoReplicaAcknowledgesIsNotReliedOn"},
	},
	{
		what: "an extension that no replica acknowledged is relied on", guards: "H1",
		edits: edits{{In: "extension.answered", Case: "r.Unreplicated", Put: "false"}},
		by:    tests{"TestExtensionThatNoReplicaAcknowledgesIsNotReliedOn"},
	},
	{
		what: "the latch of a repeated unlock is deleted although its first send may still arrive", guards: "R1",
		edits: edits{{In: "Release.answeredLatched", Expr: "!f.MayArrive", Put: "true"}},
		by:    tests{"TestR1WithheldUnlockDoesNotCountTwice"},
	},
	{
		what: "Unlock does not send once its context is over", guards: "R2",
		edits: edits{{In: "lockstate.Hold.Unlock", Call: "h.startUnlock", Before: "if err := ctx.Err(); err != nil { return err }"}},
		by:    tests{"TestR2UnlockWithAContextThatIsOverReleases"},
	},
	{
		what: "a second Unlock sends a second time", guards: "R3",
		edits: edits{{In: "Hold.startUnlock", Case: "h.released", Put: "false"}},
		by:    tests{"TestR3SecondUnlockIsErrReleasedAndTouchesNothing"},
	},
	{
		what: "Close gives up an unlock that waits for its owner's earlier command", guards: "E1",
		edits: edits{{In: "Release.Tick", Case: "m.Told() || m.state == over || f.Now <= m.Limit", Put: "m.Told()"}},
		by:    tests{"TestE1CloseSendsAReleaseThatIsInTheCommandQueue"},
	},
	{
		what: "a second Wait replaces the first", guards: "I1",
		edits: edits{{In: "rlock.Wait", If: "t.HasWait", Put: "false"}},
		by:    tests{"TestI1BadInputIsNamedBeforeAnythingIsSent"},
	},
	{
		what: "a lease below a millisecond is sent", guards: "I1",
		edits: edits{{In: "checkLease", If: "d < time.Millisecond", Put: "d < 0"}},
		by:    tests{"TestI1BadInputIsNamedBeforeAnythingIsSent"},
	},
	{
		what: "what a failover may have undone is not sent again", guards: "R5",
		edits: edits{{In: "State.changed", Call: "c.repeatUnlocks", Remove: true}},
		by:    tests{"TestUnlockIsSentAgainBehindALostConnection"},
	},
	{
		what: "no more is sent again than at once", guards: "R5",
		edits: edits{{In: "shard.repeat", Call: "s.repeatDue", Remove: true}},
		by:    tests{"TestUnlocksBeyondThoseUnderWayAreSentAgain"},
	},
	{
		what: "an unlock is sent again although another client may hold as its owner", guards: "R5",
		edits: edits{{In: "releasing.mayMeetAnother", Expr: "!r.l.c.Exclusive(r.st.owner)", Put: "false"}},
		by:    tests{"TestR5RepeatedUnlocksMeetNoOtherHold"},
	},
	{
		what: "an unlock is sent again although its owner holds again", guards: "R5, H6",
		edits: edits{{In: "Release.Begin", Case: "m.Why == Repeat && f.Known > 0", Put: "false"}},
		by:    tests{"TestR5RepeatedUnlocksMeetNoOtherHold"},
	},
	{
		what: "the latch of an unlock that may be sent again is deleted", guards: "R5, R1",
		edits: edits{{In: "Release.answeredLatched", Expr: "!a.Kept", Put: "true"}},
		by:    tests{"TestR5RepeatedUnlocksMeetNoOtherHold"},
	},
	{
		what: "an unlock is sent again with another latch", guards: "R5, R1",
		edits: edits{{In: "releasing.encode", Expr: "r.want.Latch == nil", Put: "true"}},
		by:    tests{"TestR5RepeatedUnlocksMeetNoOtherHold"},
	},
	{
		what: "an unlock that found nothing is taken for one that left its latch", guards: "R5",
		edits: edits{{In: "releasing.remember", If: "did != codec.NotHeld", Put: "true"}},
		by:    tests{"TestUnlockThatFoundNothingMeetsNoLaterHold"},
	},
	{
		what: "an unlock that all replicas have is sent again", guards: "R5",
		edits: edits{{In: "releasing.remember", Expr: "q.Wire.Acked >= q.Wire.Replicas", Put: "false"}},
		by:    tests{"TestOnlyWhatNotAllReplicasAcknowledgedIsSentAgain"},
	},
	{
		what: "an acquire that some replicas acknowledged is on all", guards: "R5",
		edits: edits{{In: "attempt.granted", Expr: "r.Wire.Acked >= r.Wire.Replicas", Put: "true"}},
		by:    tests{"TestOnlyWhatNotAllReplicasAcknowledgedIsSentAgain"},
	},
	{
		what: "a renewal that some replicas acknowledged is on all", guards: "R5",
		edits: edits{{In: "renewal.Done", Expr: "q.Wire.Acked >= q.Wire.Replicas", Put: "true"}},
		by:    tests{"TestHoldIsEverywhereForTheLeaseOfItsRenewal"},
	},
	{
		what: "an acquire that all replicas have lasts for as long as an Extend", guards: "R5",
		edits: edits{{In: "extension.begin", Stmt: "h.everywhere = false", Put: "_ = h"}},
		by:    tests{"TestHoldIsEverywhereForTheLeaseOfItsAcquire"},
	},
	{
		what: "unlocks are sent again however old they are", guards: "R5",
		edits: edits{{In: "State.repeatUnlocks", Expr: "sec.now()-u.sent <= repeatedFor", Put: "true"}},
		by:    tests{"TestOldUnlocksAreNotSentAgain"},
	},
	{
		what: "an unlock is sent again when its latch has expired", guards: "R5, R1",
		edits: edits{
			{In: "releasing.remember", Expr: "r.req.Until", Put: "watchdog.Never"},
			{In: "releasing.remember", Stmt: "u.until = min(u.until, q.First+r.l.c.unlockFor)", Put: "_ = q"},
		},
		by: tests{"TestUnlocksAreNotSentAgainAfterTheirLatch"},
	},
	{
		what: "others act as an owner whose hold not all replicas have, and its unlock is sent again", guards: "R5",
		edits: edits{{In: "releasing.remember", Stmt: "u.shared = min(u.until, r.everywhere)", Put: "u.shared = u.until"}},
		by:    tests{"TestUnlockOfAHoldThatNotAllHaveMeetsNoOtherClients"},
	},
	{
		what: "an unlock whose repetition found nothing is sent again where others act as its owner", guards: "R5",
		edits: edits{{In: "shard.foundNothing", Expr: "u.latch == latch", Put: "false"}},
		by:    tests{"TestRepetitionThatFoundNothingMeetsNoLaterHold"},
	},
	{
		what: "as many unlocks are remembered as there are", guards: "R5, E2",
		edits: edits{{In: "State.hasRoom", Expr: "n >= maxPast", Put: "false"}},
		by:    tests{"TestPastUnlocksAreBounded"},
	},
	{
		what: "busy names have all the room for unlocks", guards: "R5, E2",
		edits: edits{{In: "State.hasRoom", Expr: "c.pastShared.Load() >= sharedPast", Put: "false"}},
		by:    tests{"TestPastUnlocksAreBounded"},
	},
	{
		what: "a cluster that is used no more is not looked at", guards: "R5",
		edits: edits{{In: "Cluster.tend", Stmt: "used = used || m.used && m.idle == 1", Put: "_ = m"}},
		by:    tests{"TestClusterIsLookedAtOnceMoreAfterItsLastUse"},
	},
	{
		what: "what a server ran that served the slot no more is not sent again", guards: "R5",
		edits: edits{{In: "Request.ServedElsewhere", Stmt: "return err == nil && n != r.node", Put: "return err == nil && n == nil"}},
		by:    tests{"TestAnswerOfANodeThatServesTheSlotNoMoreIsKnown"},
	},
	{
		what: "a caller that was told at the limit is told again", guards: "life of a release",
		edits: edits{{In: "Release.tell", If: "m.Told()", Put: "false"}},
		by:    tests{"TestNoSequenceReleasesTwice", "TestEveryEventInEveryState"},
	},
	{
		what: "a release waits for ever after a pause", guards: "life of a release",
		edits: edits{{In: "Release.Resume", If: "m.state != paused && _", Put: "m.state != lost"}},
		by:    tests{"TestNoSequenceReleasesTwice", "TestEveryEventInEveryState"},
	},
	{
		what: "what a lost command may still cut is trusted", guards: "H6, H1",
		edits: edits{{In: "Late.Least", Stmt: "return min(lease, l.lease)", Put: "return lease"}},
		by:    tests{"TestWhatIsTrustedIsThere", "TestLateCommands"},
	},
	{
		what: "a hold that the watchdog extends needs no full lease", guards: "H6",
		edits: edits{{In: "Sum.Add", Stmt: "need = max(need, s.full)", Put: "_ = s"}},
		by:    tests{"TestWhatIsTrustedIsThere"},
	},
}
