package main

// aside breaks the order and the use of the two connections that there are where replicas are waited for.
var aside = []defect{
	{
		what: "releases and renewals stand behind the WAITs of acquires", guards: "second connection",
		edits: edits{{In: "Node.PipeFor", Expr: "aside && n.aside != nil && n.Pipe.Waits() && n.aside.Reachable()", Put: "false"}},
		by:    tests{"TestReleasesAndRenewalsDoNotStandBehindAcquires", "TestSecondConnectionIsMadeWhereWAITIsInUse"},
	},
	{
		what: "there are two connections where nobody is waited for", guards: "second connection",
		edits: edits{{In: "Node.PipeFor", Expr: "n.Pipe.Waits()", Put: "true"}},
		by:    tests{"TestSecondConnectionIsMadeWhereWAITIsInUse"},
	},
	{
		what: "what finds no second connection stays there", guards: "second connection",
		edits: edits{{In: "Pipeline.connectFailed", If: "p.o.Spare && p.ctx.Err() == nil", Put: "false"}},
		by:    tests{"TestSpareThatCantConnectHandsBackWhatItHas"},
	},
	{
		what: "an acquire that follows a release is not sent behind it", guards: "order of two connections",
		edits: edits{{In: "name.try", Stmt: "a.req.Aside = _", Put: "_ = q"}},
		by:    tests{"TestHandOffFollowsItsReleaseAside"},
	},
	{
		what: "who is refused before a release runs does not hear of it", guards: "order of two connections",
		edits: edits{{In: "Queue.HandOff", If: "w == nil && !ordered", Put: "false"}},
		by:    tests{"TestMessageOfAReleaseThatMayRunLaterIsOfUse"},
	},
	{
		what: "the undo on the living connection does not wait for the kill barrier of the other", guards: "order of two connections, A5",
		edits: edits{{In: "Pipeline.AfterKillBarrier", If: "!b.decided", Put: "false"}},
		by:    tests{"TestA5UndoOnAnotherConnectionFollowsTheKillBarrier"},
	},
}
