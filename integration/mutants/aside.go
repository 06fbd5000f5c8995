package main

// aside breaks the order and the use of the two connections that a client has when it waits for replicas.
var aside = []defect{
	{"releases and renewals stand behind the WAITs of acquires", "second connection", tests{"TestReleasesAndRenewalsDoNotStandBehindAcquires", "TestSecondConnectionIsMadeWhereWAITIsInUse"},
		edits{{In: "Node.Aside", Expr: "n.aside != nil && n.Pipe.AsksReplicas() && n.aside.Reachable()", Put: "false"}}},
	{"there are two connections where nobody is waited for", "second connection", tests{"TestSecondConnectionIsMadeWhereWAITIsInUse"},
		edits{{In: "Node.Aside", Expr: "n.Pipe.AsksReplicas()", Put: "true"}}},
	{"what finds no second connection stays there", "second connection", tests{"TestSpareThatCantConnectHandsBackWhatItHas"},
		edits{{In: "Pipeline.connectFailed", If: "p.o.Spare && p.ctx.Err() == nil", Put: "false"}}},
	{"the two connections may lead to different servers", "second connection", tests{"TestSiblingsLeadToOneServer"},
		edits{{In: "Pipeline.attempt", If: "other != nil && other.leadsElsewhere(barrier.server)", Put: "false"}}},
	{"an acquire goes before the release that it follows", "order of two connections", tests{"TestAcquireFollowsAReleaseThatHasNoAnswer", "TestHandOffFollowsItsReleaseAside"},
		edits{{In: "attempt.send", Stmt: "a.req.Aside = _", Put: "a.req.Aside = false"}}},
	{"an acquire goes aside while a ForceUnlock may still run", "order of two connections", tests{"TestNoAcquireGoesAsideWhileAForceUnlockIsUnderWay", "TestForceUnlockThatIsLostMayStillRun"},
		edits{{In: "attempt.send", Expr: "n.lock.shard.forcing == 0", Put: "true"}}},
	{"a release that was answered is followed for ever", "order of two connections", tests{"TestAcquireFollowsAReleaseThatHasNoAnswer"},
		edits{{In: "releasing.arrived", Stmt: "n.ahead--", Put: "_ = n"}}},
	{"who could not follow a release does not hear of it", "order of two connections", tests{"TestWhoCouldNotFollowAReleaseHearsOfIt"},
		edits{{In: "attempt.send", If: "a.queued && n.ahead > 0 && !a.req.WentAside", Put: "false"}}},
	{"the undo on the living connection does not wait for the kill barrier of the other", "order of two connections, A5", tests{"TestA5UndoOnAnotherConnectionFollowsTheKillBarrier"},
		edits{{In: "Pipeline.AfterKillBarrier", Expr: "!b.decided", Put: "false"}}},
}
