package main

// atOnce breaks how a hold is told of its loss at once.
var atOnce = []defect{
	{
		what: "a change of a key has nobody look", guards: "told at once",
		edits: edits{{In: "Watchdog.owe", Stmt: "w.ask(l)", Put: "_ = w.ask"}},
		by:    tests{"TestHoldOfEachKindIsToldOfItsLossAtOnce"},
	},
	{
		what: "a key that changed is looked at once", guards: "told at once",
		edits: edits{{In: "Lease.Changed", Expr: "2", Put: "1"}},
		by:    tests{"TestLeaseIsLookedAtByTheTable"},
	},
	{
		what: "looks at a key that is written again and again are not spaced", guards: "told at once",
		edits: edits{{In: "Watchdog.lookAnswered", Expr: "clock.Later(w.clock.Now(), lookRest)", Put: "clock.Later(w.clock.Now(), 0)"}},
		by:    tests{"TestFalseAlarmsEndNothingAndAreRateLimited"},
	},
	{
		what: "looks have no pace", guards: "told at once",
		edits: edits{{In: "Watchdog.looks", Stmt: "w.lookFrom = _", Put: "_ = lookGap"}},
		by:    tests{"TestLooksArePacedAndDelayNoRenewal"},
	},
	{
		what: "what its owner wrote is not read again", guards: "told at once",
		edits: edits{{In: "Watchdog.wrote", Stmt: "w.unread(l)", Put: "_ = w.unread"}},
		by:    tests{"TestLeaseIsLookedAtByTheTable"},
	},
	{
		what: "a look counts though the key was written behind it", guards: "told at once",
		edits: edits{{In: "Watchdog.wrote", Stmt: "l.owed = _", Put: "_ = l.owed"}},
		by:    tests{"TestLeaseIsLookedAtByTheTable"},
	},
	{
		what: "what another hold of the client wrote is not read again", guards: "told at once",
		edits: edits{{In: "OwnerState.done", Stmt: "st.tellOthers()", Put: "_ = st.tellOthers"}},
		by:    tests{"TestHoldIsToldThoughAnotherOfItsClientCameAndWent"},
	},
	{
		what: "a renewal that nobody tracks counts as read", guards: "told at once",
		edits: edits{{In: "Watchdog.renewalRead", Case: "!read", Put: "false"}},
		by:    tests{"TestRenewalReadsToo"},
	},
	{
		what: "a fixed lease is looked at once", guards: "told at once",
		edits: edits{{In: "Watchdog.round", Expr: "third && b.group == &w.resting", Put: "false"}},
		by:    tests{"TestLeaseIsLookedAtByTheTable"},
	},
	{
		what: "a look's no counts though the owner has sent something meanwhile", guards: "told at once",
		edits: edits{{In: "renewee.lose", Expr: "!st.calm", Put: "false"}},
		by:    tests{"TestNoOfALookCountsIfItsOwnerHadNoCommandMeanwhile"},
	},
	{
		what: "another listener has nothing read again", guards: "told at once",
		edits: edits{{In: "topology.tracking.Confirmed", Stmt: "by.Told(t.n, false)", Put: "_ = by"}},
		by:    tests{"TestHoldIsWatchedAgainByOtherConnections"},
	},
	{
		what: "a pool's connection goes back with tracking on", guards: "told at once",
		edits: edits{{In: "conn.release", Stmt: "c.stopTracking()", Put: "_ = c.stopTracking"}},
		by:    tests{"TestConnectionThatGoesBackToItsPoolTracksNothing"},
	},
	{
		what: "a listener's id is not looked up on the server", guards: "told at once",
		edits: edits{{In: "conn.receiveLead", Stmt: "said = ErrNoListener", Put: "said = nil"}},
		by:    tests{"TestListenerOfAnotherServerIsNotTold"},
	},
	{
		what: "what is said of a listener that was replaced counts", guards: "told at once",
		edits: edits{{In: "conn.receiveLead", Expr: "t.asked != c.p.listener", Put: "false"}},
		by:    tests{"TestListenerOfAnotherServerIsNotTold"},
	},
	{
		what: "a listener that is elsewhere is said at once", guards: "told at once",
		edits: edits{{In: "Node.Track", Expr: "t.patience", Put: "0"}},
		by:    tests{"TestListenerElsewhereIsSaidWhenThatLasts"},
	},
}
