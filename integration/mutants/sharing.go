package main

// sharing breaks what the library does where several servers share the slots.
var sharing = []defect{
	{
		what: "READONLY is passed on to the caller", guards: "topology",
		edits: edits{{In: "oneNode.Redirect", If: "said.ReadOnly()", Put: "false"}},
		by:    tests{"TestReadOnlyCommandGoesToTheServerThatTheAddressLeadsTo"},
	},
	{
		what: "ASKING is left out", guards: "topology",
		edits: edits{{In: "Pipeline.admit", Stmt: "r.deadline, r.loads, r.Resent, r.asking = deadline, 0, again, asking",
			Put: "r.deadline, r.loads, r.Resent, r.asking = deadline, 0, again, false"}},
		by: tests{"TestAskedCommandFollowsAskingAndItsScriptIsLoadedBefore"},
	},
	{
		what: "a slot that has not settled is not waited for", guards: "topology",
		edits: edits{{In: "Request.redirected", If: "to.After > 0", Before: "if to.After > 0 { return false }"}},
		by:    tests{"TestTryAgainIsWaitedOut", "TestClusterDownIsWaitedOut"},
	},
	{
		what: "several locks are redirected as one", guards: "topology",
		edits: edits{{In: "Request.Scattered", Expr: "r.refusal().Scatters()", Put: "r.refusal().Scatters() && false"}},
		by:    tests{"TestSeveralLocksAreNotRedirected"},
	},
	{
		what: "an unlock of which no server has all keys is repeated with all of them", guards: "topology",
		edits: edits{{In: "Release.Refused", Case: "inTwo && m.Form == Once && !f.Shown", Put: "false"}},
		by:    tests{"TestUnlockWithoutALatchRunsWhereTheLockIs"},
	},
	{
		what: "an unlock whose slot does not settle is given up at its caller's limit", guards: "topology",
		edits: edits{{In: "Release.Refused", Case: "inTwo && !m.Form.once()", Put: "false"}},
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
		edits: edits{{In: "Pipeline.attempt", Expr: `b.server.run == "" || b.server.run != barrier.server.run`, Put: "b.server.run != barrier.server.run"}},
		by:    tests{"TestKillBarrierOfAnotherServerCountsIfThatIsTheMaster"},
	},
	{
		what: "two servers that are reached at one address are one", guards: "which server",
		edits: edits{{In: "server.another", If: `s.run != "" && o.run != ""`, Put: "false"}},
		by:    tests{"TestServersOfOneInnerAddressAreTwo", "TestTwinsLeadToOneServerOfTwoWithOneInnerAddress"},
	},
	{
		what: "where servers hide their run ids, what was dialled tells nothing", guards: "which server",
		edits: edits{{In: "server.another", Expr: "differ(s.place, o.place)", Put: "false"}},
		by:    tests{"TestServersOfOneInnerAddressAreTwo"},
	},
	{
		what: "where a server's run id is not asked, its own address tells nothing", guards: "which server",
		edits: edits{{In: "server.another", Expr: "differ(s.own, o.own)", Put: "false"}},
		by:    tests{"TestMoveIsToldWhenTheNextConnectionReachesAnotherServer"},
	},
	{
		what: "the replicas of the former master are waited for at the next", guards: "which server",
		edits: edits{{In: "Replicas.of", If: "first || at.another(s.now.at) && at.place != s.now.at.place", Put: "first"}},
		by:    tests{"TestReplicasOfTheFormerMasterAreNotWaitedForAtTheNext"},
	},
	{
		what: "the replicas of a server that was restarted are forgotten", guards: "which server",
		edits: edits{{In: "Replicas.of", If: "first || at.another(s.now.at) && at.place != s.now.at.place", Put: "first || at.another(s.now.at)"}},
		by:    tests{"TestReplicasOfAServerThatWasRestartedAreWaitedFor"},
	},
	{
		what: "a line without a port makes a cluster's map unreadable", guards: "topology",
		edits: edits{{In: "decodeSlots", Stmt: "unusable = errors.Join(unusable, err)", Put: "return nil, nil, err"}},
		by:    tests{"TestMasterThatForgotTheClusterCostsItsOwnSlotsOnly", "TestSlotMapsOfRecordedReplies"},
	},
	{
		what: "a master that is cut off is believed like any other", guards: "topology",
		edits: edits{{In: "alone", Stmt: "return 2*heard <= all && all > 0", Put: "return false"}},
		by:    tests{"TestAClusterElectsAnotherMasterForOneThatIsCutOff", "TestAloneIsWhoHearsNoMajority"},
	},
	{
		what: "a replica without a port costs its master's slots", guards: "topology",
		edits: edits{{In: "decodeRange", Case: "i == 0 && err != nil", Put: "err != nil"}},
		by:    tests{"TestSlotMapsOfRecordedReplies"},
	},
	{
		what: "slots that nobody serves are logged at each look", guards: "topology",
		edits: edits{{In: "Cluster.warn", If: "a.unusable != nil && text != t.warned", Put: "a.unusable != nil"}},
		by:    tests{"TestMasterThatForgotTheClusterCostsItsOwnSlotsOnly"},
	},
	{
		what: "a master is left for one Sentinel's word, whatever most of them say", guards: "Sentinels",
		edits: edits{{In: "choice.believes", If: "c.takenBack(said, known)", Put: "false"}},
		by:    tests{"TestWordThatMostSentinelsTakeBackCostsOneConnection", "TestNewestConfigurationOfTheMasterCounts"},
	},
	{
		what: "the others take back what a Sentinel told", guards: "Sentinels",
		edits: edits{{In: "choice.takenBack", Expr: "!slices.Contains(naming, by)", Put: `by == ""`}},
		by:    tests{"TestNewestConfigurationOfTheMasterCounts"},
	},
	{
		what: "one Sentinel takes back for all", guards: "Sentinels",
		edits: edits{{In: "choice.takenBack", Expr: "2*len(naming) > known", Put: "known > 0"}},
		by:    tests{"TestNewestConfigurationOfTheMasterCounts"},
	},
	{
		what: "what a Sentinel said before it told takes that back", guards: "Sentinels",
		edits: edits{{In: "choice.takenBack", Expr: "t.asked.After(c.toldAt)", Put: "true"}},
		by:    tests{"TestNewestConfigurationOfTheMasterCounts"},
	},
	{
		what: "two names of one master are two masters", guards: "Sentinels",
		edits: edits{{In: "choice.byServer", Expr: `a.run != "" && a.run == b.run`, Put: "false"}},
		by:    tests{"TestSentinelsThatCallTheMasterByNameAndByAddressAgree", "TestNewestConfigurationOfTheMasterCounts"},
	},
	{
		what: "two names of one master are two masters when it was restarted", guards: "Sentinels",
		edits: edits{{In: "choice.byServer", Expr: "a.epoch == c.epoch && slices.Contains(c.master.names, a.master) && slices.Contains(c.master.names, b.master)", Put: "false"}},
		by:    tests{"TestNewestConfigurationOfTheMasterCounts"},
	},
	{
		what: "a master is connected to by whatever name most use now", guards: "Sentinels",
		edits: edits{{In: "choice.spelled", Expr: "len(said)", Put: "0"}},
		by:    tests{"TestNewestConfigurationOfTheMasterCounts"},
	},
	{
		what: "another name of the master replaces it", guards: "Sentinels",
		edits: edits{{In: "choice.believe", Expr: `c.master.run != "" && c.master.run == t.run`, Put: "false"}},
		by:    tests{"TestMasterIsLeftByAnyOfItsNames"},
	},
	{
		what: "a master is left by the name only that it is connected to by", guards: "Sentinels",
		edits: edits{{In: "choice.leave", If: "slices.Contains(c.master.names, from)", Put: "c.master.addr() == from"}},
		by:    tests{"TestMasterIsLeftByAnyOfItsNames"},
	},
	{
		what: "a master that was left is believed in by another name", guards: "Sentinels",
		edits: edits{{In: "master.is", Expr: `t.run != "" && t.run == m.run`, Put: "false"}},
		by:    tests{"TestNewestConfigurationOfTheMasterCounts"},
	},
	{
		what: "a closed cluster makes a node that nobody closes", guards: "E2",
		edits: edits{{In: "Cluster.member", If: "t.life.Err() != nil", Put: "false"}},
		by:    tests{"TestNobodySubscribesToAClusterThatIsClosed"},
	},
	{
		what: "leases of kinds with different scripts are renewed by one", guards: "renewals of a cluster",
		edits: edits{{In: "Lock.sharesRenew", Expr: "l.traits.RenewGroup == o.traits.RenewGroup", Put: "o != nil"}},
		by:    tests{"TestLeasesOfTwoSortsAreNotRenewedByOneScript"},
	},
	{
		what: "leases of two slots are renewed by one script in a cluster", guards: "renewals of a cluster",
		edits: edits{{In: "Lock.sharesRenew", Expr: "l.slot == o.slot", Put: "o != nil"}},
		by:    tests{"TestLeasesOfTwoSortsAreNotRenewedByOneScript"},
	},
	{
		what: "an unlock that waits to be written is uncertain when its context ends", guards: "R2",
		edits: edits{{In: "releasing.await", If: "r.Unsent(r.waits(), r.factsUnderWay())", Put: "false"}},
		by:    tests{"TestUnlockThatIsNotWrittenIsNotUncertain"},
	},
	{
		what: "commands for a node that left end there", guards: "topology",
		edits: edits{{In: "Pipeline.Leave", Stmt: "p.over = ErrGone", Put: "_ = ErrGone"}},
		by:    tests{"TestUnwrittenCommandOfANodeThatLeavesIsNotSent"},
	},
	{
		what: "holds are not renewed when their slot moves", guards: "topology",
		edits: edits{{In: "Watchdog.RenewThose", If: "chosen && _ && _ && _", Put: "chosen && b == nil"}},
		by:    tests{"TestHoldIsRenewedAtOnceWhenItsSlotMoves"},
	},
	{
		what: "waiters listen where their slot was", guards: "topology",
		edits: edits{{In: "State.changed", Call: "resubscribe", Remove: true}},
		by:    tests{"TestWaiterListensWhereItsSlotIs"},
	},
	{
		what: "a waiter listens when one of its subscriptions is confirmed", guards: "topology",
		edits: edits{{In: "subscriber.Confirmed", If: "q.unconfirmed == 0", Put: "true"}},
		by:    tests{"TestWaiterOfSeveralSubscriptionsListensWhenAllAreConfirmed"},
	},
	{
		what: "a change that nobody received is forgotten with the next one", guards: "topology",
		edits: edits{{In: "Feed.Tell", Stmt: "told = <-f.ch", Put: "<-f.ch"}},
		by:    tests{"TestChangesAreMergedWhileNobodyLooks"},
	},
	{
		what: "an attempt is put back twice", guards: "what is used again",
		edits: edits{{In: "attempt.done", Stmt: "spares.attempts.Put(a)", Before: "spares.attempts.Put(a)"}},
		by:    tests{"TestReusedObjectsHaveOneUser"},
	},
	{
		what: "a release is put back twice", guards: "what is used again",
		edits: edits{{In: "releasing.Done", Stmt: "spares.releases.Put(r)", Before: "spares.releases.Put(r)"}},
		by:    tests{"TestReusedObjectsHaveOneUser"},
	},
	{
		what: "the outcome of an unlock is put back twice", guards: "what is used again",
		edits: edits{{In: "releasing.await", Stmt: "l.c.spares.outcomes.Put(outcome)", Before: "l.c.spares.outcomes.Put(outcome)"}},
		by:    tests{"TestReusedObjectsHaveOneUser"},
	},
	{
		what: "a zero Hold is taken for one that a client made", guards: "zero values",
		edits: edits{{In: "rlock.Hold.isZero", Expr: "h.h.Face == nil", Put: "h.h.Face == nil && false"}},
		by:    tests{"TestZeroValuesAnswerWithErrors"},
	},
	{
		what: "a log line marks its owner", guards: "owners in logs",
		edits: edits{{In: "rlock.Owner.LogValue", Call: "o.o.String", Put: "o.o.Share()"}},
		by:    tests{"TestOnlyTextsThatMayLeaveTheProcessMarkAnOwner"},
	},
}
