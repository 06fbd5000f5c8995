package main

// sending breaks the connection, what becomes of a command, and what its bytes are taken to mean.
var sending = []defect{
	{
		what: "a broken connection is not killed", guards: "kill barrier",
		edits: edits{{In: "identify", Stmt: `x.send("CLIENT", "KILL", "ID", b.id, "ADDR", b.addr)`, Put: `_ = b; x.send("CLIENT", "ID")`}},
		by:    tests{"TestA5WithheldAcquireNeverRuns", "TestA5NextConnectionBeginsWithKillingTheLast"},
	},
	{
		what: "the kill barrier names a connection by its id alone", guards: "kill barrier",
		edits: edits{{In: "identify", Stmt: `x.send("CLIENT", "KILL", "ID", b.id, "ADDR", b.addr)`, Put: `x.send("CLIENT", "KILL", "ID", b.id)`}},
		by:    tests{"TestA5KillBarrierAfterRestartHitsNobodyElse"},
	},
	{
		what: "a refused kill passes for a kill barrier", guards: "kill barrier",
		edits: edits{{In: "identify", Expr: "append(ident.killed, refusal == nil)", Put: "append(ident.killed, true)"}},
		by:    tests{"TestA5RefusedKillIsToldAsSuch", "TestA5WithoutKillALateAcquireIsRemoved"},
	},
	{
		what: "a closing client connects for a kill barrier that nobody waits for", guards: "kill barrier",
		edits: edits{{In: "conn.finish", If: "anew && !p.closing", Put: "anew"}},
		by:    tests{"TestConnectionThatBreaksDuringCloseIsMadeAnewForAReason"},
	},
	{
		what: "a closing client makes no connection for a kill barrier", guards: "kill barrier",
		edits: edits{{In: "Pipeline.AfterKillBarrier", Call: "p.connect", Remove: true}},
		by:    tests{"TestConnectionThatBreaksDuringCloseIsMadeAnewForAReason"},
	},
	{
		what: "commands pause between two attempts to connect though another master is known", guards: "failover",
		edits: edits{{In: "Pipeline.Retry", Call: "background.Signal", Remove: true}},
		by:    tests{"TestRetryEndsThePauseBetweenTwoAttempts"},
	},
	{
		what: "the hub pauses between two attempts to connect though there is another server", guards: "failover",
		edits: edits{{In: "Hub.Redial", Call: "background.Signal", Put: "_ = background.Signal"}},
		by:    tests{"TestRedialEndsThePauseBetweenTwoAttempts"},
	},
	{
		what: "what must be sent once is sent again after a loss", guards: "resend rules",
		edits: edits{{In: "Request.lost", If: "r.Resend == kind.Always", Put: "true"}},
		by:    tests{"TestLostRequestHasItsFateBehindTheBarrier"},
	},
	{
		what: "an idempotent command is not sent again after a loss", guards: "resend rules, R1",
		edits: edits{{In: "Request.lost", If: "r.Resend == kind.Always", Put: "false"}},
		by:    tests{"TestIdempotentRequestIsSentAgainBehindTheBarrier", "TestR1LostUnlockReplyCountsOnce"},
	},
	{
		what: "a refusal that passes is final", guards: "resend rules",
		edits: edits{{In: "Executor.sendsAgain", Stmt: "return said.Transient() || r.misplaced || _", Put: "return said.Transient() || r.misplaced"}},
		by:    tests{"TestRefusalIsWaitedOut"},
	},
	{
		what: "a lost command counts as one that did not run", guards: "fates",
		edits: edits{{In: "Request.MayHaveRun", Case: "Lost", Put: "Open"}},
		by:    tests{"TestLostRequestHasItsFateBehindTheBarrier", "TestH3GrantBeforeAForcedUnlockThatWasLoadedAndLostIsNotTrusted"},
	},
	{
		what: "a reply of another shape is a refused acquire", guards: "codec, I2",
		edits: edits{{In: "pttl", If: "!ok || ms < pttlNoKey", Put: "ok && ms < pttlNoKey"}},
		by:    tests{"TestRepliesOfEachScript", "TestI2ReplyOfAnotherShape"},
	},
	{
		what: "the last unlock is told to another channel", guards: "codec",
		edits: edits{{In: "luasrc.Unlock", Call: "UnlockScript.call", Nth: 2, Arg: 4, Put: "latch"}},
		by:    tests{"TestUnlockOfTheLastHoldFreesAndTells"},
	},
	{
		what: "a command that is taken back is looked for among all that wait", guards: "pipeline",
		edits: edits{{In: "Pipeline.Cancel", Stmt: "p.queue.take(r)", Put: "for q := p.queue.first; q != r; q = q.behind {}; p.queue.take(r)"}},
		by:    tests{"TestACrowdIsTakenBackInATimeThatGrowsWithIt"},
	},
	{
		what: "whoever flushes waits for the write", guards: "pipeline",
		edits: edits{
			{In: "Pipeline.writeQueued", If: "c.atOnce", Put: "true"},
			{In: "Pipeline.writeQueued", Expr: "c.writeBatch(caller, false)", Put: "c.writeBatch(caller, true)"},
		},
		by: tests{"TestCallsEndInTimeWhileASocketIsFull"},
	},
	{
		what: "who must not wait writes where a write may wait", guards: "pipeline",
		edits: edits{{In: "Pipeline.WakeWriter", Stmt: "p.writeQueued(false)", Put: "if p.ready() { p.conn.writeBatch(false, true) }"}},
		by:    tests{"TestAWriteThatWaitsHoldsUpNoHold", "TestAMasterWhoseTunnelStallsCostsTheOthersNoHold"},
	},
	{
		what: "callers write where a write may wait", guards: "pipeline",
		edits: edits{
			{In: "Pipeline.writeQueued", If: "c.atOnce", Put: "true"},
			{In: "waits.TryWrite", Stmt: "return 0, nil", Put: "return w.Write(p)"},
		},
		by: tests{"TestCallsEndInTimeWhileAWriteWaits"},
	},
	{
		what: "what a full socket did not take is not written", guards: "pipeline",
		edits: edits{{In: "pipeline.conn.writeAll", Expr: "c.handed || p.ready() && p.conn == c", Put: "p.ready() && p.conn == c"}},
		by:    tests{"TestCallsEndInTimeWhileASocketIsFull"},
	},
	{
		what: "a reply that nobody asked for is the next command's", guards: "pipeline, A5",
		edits: edits{{In: "conn.quiet", If: "some", Put: "some && false"}},
		by:    tests{"TestAReplyThatNobodyAskedForIsNobodys"},
	},
	{
		what: "a connection is given back with its writes locked", guards: "pipeline",
		edits: edits{{In: "conn.release", Stmt: "c.wmu.Unlock()", Put: "defer c.wmu.Unlock()"}},
		by:    tests{"TestAConnectionThatIsGivenBackHoldsUpNobody"},
	},
	{
		what: "a deadline that passes while nothing is written ends a dialer's connection", guards: "redisconn",
		edits: edits{
			{In: "deadline.start", Case: "!d.underWay || d.passed", Put: "d.passed"},
			{In: "deadline.fire", Expr: "d.underWay && !d.passed", Put: "!d.passed"},
			{In: "deadline.bound", Call: "d.timer.Stop", Remove: true},
		},
		by: tests{
			"TestDeadlineThatPassesWhileNothingIsUnderWayEndsNothing", "TestIdleConnectionsOfADialerStay", "TestAConnectionOfADialerOutlivesALongWAIT",
		},
	},
	{
		what: "replies are polled for where sleeping is quicker", guards: "pipeline",
		edits: edits{{In: "polling.took", Expr: "c.polled.total*time.Duration(c.slept.reads)*8 >= c.slept.total*time.Duration(c.polled.reads)*7", Put: "false"}},
		by:    tests{"TestTheQuickerWayToWaitIsTaken"},
	},
	{
		what: "how to wait for replies is chosen once and for all", guards: "pipeline",
		edits: edits{{In: "polling.next", Expr: "c.sincePolled >= pollEvery", Put: "false"}},
		by:    tests{"TestTheWayToWaitFollowsTheMachine", "TestSomeReadsSleepAlways"},
	},
	{
		what: "replies are polled for on a busy machine: a preemption counts for a millisecond", guards: "pipeline",
		edits: edits{{In: "spent.add", Expr: "timeSlice", Put: "time.Millisecond"}},
		by:    tests{"TestTheQuickerWayToWaitIsTaken"},
	},
	{
		what: "whoever polls never sleeps", guards: "pipeline",
		edits: edits{{In: "polling.next", Expr: "c.sinceSlept < sleepEvery", Put: "true"}},
		by:    tests{"TestSomeReadsSleepAlways"},
	},
	{
		what: "replies are polled for though no processor of Go's waits for the network", guards: "pipeline",
		edits: edits{{In: "idleProcessor", Expr: "running.Uint64() < all.Uint64()", Put: "running.Uint64() <= all.Uint64()"}},
		by:    tests{"TestAProcessorIsIdleIfNothingElseWantsIt"},
	},
	{
		what: "the reader of an idle connection polls", guards: "pipeline",
		edits: edits{{In: "pipeline.conn.receive", Expr: "c.atOnce && len(c.batches) > 0", Put: "c.atOnce"}},
		by:    tests{"TestTheReaderPollsOnlyForWhatIsUnderWayAndWithAnIdleProcessor"},
	},
	{
		what: "a connection breaks where a sandbox forbids the raw calls", guards: "redisconn",
		edits: edits{{In: "redisconn.ordinary", Expr: "f(int(fd), p)", Put: "0, error(syscall.EPERM)"}},
		by:    tests{"TestConnectionsWorkWhereTheCallsAreForbidden"},
	},
	{
		what: "two may read or write a socket at once", guards: "redisconn",
		edits: edits{
			{In: "socket.read", If: "!s.reading.CompareAndSwap(false, true)", Put: "!s.reading.CompareAndSwap(false, true) && false"},
			{In: "socket.write", If: "!s.writing.CompareAndSwap(false, true)", Put: "!s.writing.CompareAndSwap(false, true) && false"},
		},
		by: tests{"TestASocketHasOneReaderAndOneWriter"},
	},
	{
		what: "what is written while a caller reads has no reader", guards: "pipeline",
		edits: edits{{In: "conn.hasRead", If: "c.inflight > 0 || c.retired", Put: "c.retired"}},
		by:    tests{"TestASecondCallerCallsTheReaderBack"},
	},
	{
		what: "the end of an idle connection is not noticed after a lone caller", guards: "pipeline",
		edits: edits{{In: "conn.standBy", Expr: "l.reads == seen", Nth: 1, Put: "false"}},
		by:    tests{"TestTheEndOfAnIdleConnectionIsNoticedAfterALoneCaller"},
	},
	{
		what: "a caller that reads waits for as long as the reply takes", guards: "pipeline",
		edits: edits{{In: "conn.standBy", If: "l.reading && l.reads == seen", Put: "false"}},
		by:    tests{"TestACallerThatReadsLeavesALongWaitToTheReader"},
	},
	{
		what: "the deadline that ends a caller's read ends the connection", guards: "pipeline",
		edits: edits{{In: "conn.standBy", If: "cutShort", Put: "cutShort && false"}},
		by:    tests{"TestACallerThatReadsLeavesALongWaitToTheReader"},
	},
	{
		what: "what a caller met in reading is forgotten", guards: "pipeline",
		edits: edits{{In: "conn.readOwn", Stmt: "c.met = err", Put: "_ = err"}},
		by:    tests{"TestWhatACallerMetInReadingIsTheCauseOfTheLoss"},
	},
	{
		what: "whoever breaks a dialer's connection off waits for its Close", guards: "redisconn",
		edits: edits{{In: "dated.Close", Expr: "grace", Put: "time.Hour"}},
		by:    tests{"TestCloseOfADialersConnectionIsNotWaitedFor"},
	},
}
