package main

// sharing breaks what the library does where several servers share the slots.
var sharing = []defect{
	{
		what: "READONLY is passed on to the caller", guards: "topology",
		edits: edits{{In: "Single.Redirect", If: "said.ReadOnly()", Put: "false"}},
		by:    tests{"TestReadOnlyCommandGoesToTheServerThatTheAddressLeadsTo"},
	},
	{
		what: "ASKING is left out", guards: "topology",
		edits: edits{{In: "Pipeline.Resend", Stmt: "r.queued, r.Resent, r.asking, r.loads = true, true, asking, 0",
			Put: "r.queued, r.Resent, r.asking, r.loads = true, true, false, 0"}},
		by: tests{"TestAskedCommandFollowsAskingAndItsScriptIsLoadedBefore"},
	},
	{
		what: "a slot that has not settled is not waited for", guards: "topology",
		edits: edits{{In: "Request.redirected", If: "to.After > 0", Before: "if to.After > 0 { return false }"}},
		by:    tests{"TestTryAgainIsWaitedOut", "TestClusterDownIsWaitedOut"},
	},
	{
		what: "several locks are redirected as one", guards: "topology",
		edits: edits{{In: "Request.Scattered", Expr: "said.Scatters()", Put: "said.Scatters() && false"}},
		by:    tests{"TestSeveralLocksAreNotRedirected"},
	},
	{
		what: "an unlock of which no server has all keys is repeated with all of them", guards: "topology",
		edits: edits{{In: "release.sentAlone", Stmt: "r.want.Alone = true", Put: "return false"}},
		by:    tests{"TestUnlockWithoutALatchRunsWhereTheLockIs"},
	},
	{
		what: "an unlock whose slot does not settle is given up at its caller's limit", guards: "topology",
		edits: edits{{In: "release.sentAlone", Stmt: "r.req.Until = max(r.req.Until, r.unheld)", Put: "r.split = false"}},
		by:    tests{"TestUnlockInASlotThatDoesNotSettleIsNeverUncertain"},
	},
	{
		what: "a force unlock of which no server has all keys is repeated with all of them", guards: "topology",
		edits: edits{{In: "Lock.startForce", Stmt: "f.req.Whole = true", Put: "f.req.Whole = false"}},
		by:    tests{"TestForceUnlockRunsWhereTheLockIs"},
	},
	{
		what: "the word of any server at an address counts for a kill barrier", guards: "kill barrier",
		edits: edits{{In: "Request.lost", If: "closed && r.pipe.Doubted(&r.Wire)", Put: "false"}},
		by:    tests{"TestKillBarrierOfAnotherServerCountsIfThatIsTheMaster"},
	},
	{
		what: "a server without a run id is the one that it was", guards: "kill barrier",
		edits: edits{{In: "Pipeline.attempt", Expr: `b.run == "" || b.run != barrier.run`, Put: "b.run != barrier.run"}},
		by:    tests{"TestKillBarrierOfAnotherServerCountsIfThatIsTheMaster"},
	},
	{
		what: "leases of kinds with different scripts are renewed by one", guards: "renewals of a cluster",
		edits: edits{{In: "renewal.sharedBy", Expr: "r.subs[0].l.traits.RenewGroup != l.traits.RenewGroup", Put: "l == nil"}},
		by:    tests{"TestLeasesOfTwoSortsAreNotRenewedByOneScript"},
	},
	{
		what: "an unlock that waits to be written is uncertain when its context ends", guards: "R2",
		edits: edits{{In: "Lock.awaitLonger", If: "len(outcome) == 0 && !r.req.Reached() && r.req.Begun() && (r.paused || l.c.exec.Waiting(&r.req))", Put: "false"}},
		by:    tests{"TestUnlockThatIsNotWrittenIsNotUncertain"},
	},
	{
		what: "commands for a node that left end there", guards: "topology",
		edits: edits{{In: "Pipeline.over", Case: "p.gone", Put: "false"}},
		by:    tests{"TestUnwrittenCommandOfANodeThatLeavesIsNotSent"},
	},
	{
		what: "holds are not renewed when their slot moves", guards: "topology",
		edits: edits{{In: "queue.advanceThose", Expr: "pick(it.lease.holder)", Put: "pick(it.lease.holder) && false"}},
		by:    tests{"TestHoldIsRenewedAtOnceWhenItsSlotMoves"},
	},
	{
		what: "waiters listen where their slot was", guards: "topology",
		edits: edits{{In: "State.changed", Call: "resubscribe", Remove: true}},
		by:    tests{"TestWaiterListensWhereItsSlotIs"},
	},
	{
		what: "a waiter listens when one of its subscriptions is confirmed", guards: "topology",
		edits: edits{{In: "partWaker.Confirmed", If: "p.joint.missing.Add(-1) > 0", Put: "p.joint.missing.Add(-1) > 1"}},
		by:    tests{"TestWaiterOfSeveralSubscriptionsListensWhenAllAreConfirmed"},
	},
	{
		what: "a change that nobody received is forgotten with the next one", guards: "topology",
		edits: edits{{In: "Feed.Tell", Stmt: "told = <-f.ch", Put: "<-f.ch"}},
		by:    tests{"TestChangesAreMergedWhileNobodyLooks"},
	},
}
