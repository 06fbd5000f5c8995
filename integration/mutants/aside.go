package main

// aside breaks the order and the use of the two connections that there are where replicas are waited for.
var aside = []defect{
	{
		what: "releases and renewals stand behind the WAITs of acquires", guards: "second connection",
		edits: edits{{In: "Node.Aside", Expr: "n.aside != nil && n.Pipe.Waits() && n.aside.Reachable()", Put: "false"}},
		by:    tests{"TestReleasesAndRenewalsDoNotStandBehindAcquires", "TestSecondConnectionIsMadeWhereWAITIsInUse"},
	},
	{
		what: "there are two connections where nobody is waited for", guards: "second connection",
		edits: edits{{In: "Node.Aside", Expr: "n.Pipe.Waits()", Put: "true"}},
		by:    tests{"TestSecondConnectionIsMadeWhereWAITIsInUse"},
	},
	{
		what: "what finds no second connection stays there", guards: "second connection",
		edits: edits{{In: "Pipeline.connectFailed", If: "p.o.Spare && p.ctx.Err() == nil", Put: "false"}},
		by:    tests{"TestSpareThatCantConnectHandsBackWhatItHas"},
	},
	{
		what: "the two connections may lead to different servers", guards: "second connection",
		edits: edits{{In: "Pipeline.drawTwin", If: "apart", Put: "apart && false"}},
		by:    tests{"TestTwinsLeadToOneServer"},
	},
	{
		what: "an acquire goes before the release that it follows", guards: "order of two connections",
		edits: edits{{In: "attempt.begin", Stmt: "a.req.Aside = _", Put: "a.req.Aside = false"}},
		by:    tests{"TestAcquireFollowsAReleaseThatHasNoAnswer", "TestHandOffFollowsItsReleaseAside"},
	},
	{
		what: "an acquire goes aside while a ForceUnlock may still run", guards: "order of two connections",
		edits: edits{{In: "name.acquiresAside", Expr: "n.l.s.forcing == 0", Put: "true"}},
		by:    tests{"TestNoAcquireGoesAsideWhileAForceUnlockIsUnderWay", "TestForceUnlockThatIsLostMayStillRun"},
	},
	{
		what: "a release that was answered is followed for ever", guards: "order of two connections",
		edits: edits{{In: "releasing.arrived", Stmt: "n.ahead--", Put: "_ = n"}},
		by:    tests{"TestAcquireFollowsAReleaseThatHasNoAnswer"},
	},
	{
		what: "who could not follow a release does not hear of it", guards: "order of two connections",
		edits: edits{{In: "attempt.begin", If: "n.ahead > 0 && !a.req.WentAside", Put: "false"}},
		by:    tests{"TestWhoCouldNotFollowAReleaseHearsOfIt"},
	},
	{
		what: "the undo on the living connection does not wait for the kill barrier of the other", guards: "order of two connections, A5",
		edits: edits{{In: "Pipeline.AfterKillBarrier", Expr: "!b.decided", Put: "false"}},
		by:    tests{"TestA5UndoOnAnotherConnectionFollowsTheKillBarrier"},
	},
}
