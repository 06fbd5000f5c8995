package main

// atOnce breaks how a hold is told of its loss at once.
var atOnce = []defect{
	{
		what: "a change of a key has nobody look", guards: "told at once",
		edits: edits{{In: "Lease.Changed", Stmt: "w.ask(l)", Put: "_ = w.ask"}},
		by:    tests{"TestHoldOfEachKindIsToldOfItsLossAtOnce"},
	},
	{
		what: "a change of a key is a loss, whatever the server answers", guards: "told at once",
		edits: edits{{In: "Watchdog.lookAnswered", Expr: "a.Result == NotOwned", Put: "a.Result == NotOwned || l.changed"}},
		by:    tests{"TestFalseAlarmsEndNothingAndAreRateLimited"},
	},
	{
		what: "looks at a key that is written again and again are not spaced", guards: "told at once",
		edits: edits{{In: "Watchdog.lookAnswered", Stmt: "w.doubts = append(w.doubts, _)", Put: "w.doubts = append(w.doubts, doubt{l, now, true})"}},
		by:    tests{"TestFalseAlarmsEndNothingAndAreRateLimited"},
	},
	{
		what: "what its owner wrote is not read again", guards: "told at once",
		edits: edits{{In: "Watchdog.written", Stmt: "l.watch = unseen", Put: "_ = unseen"}},
		by:    tests{"TestHoldIsToldAfterItsOwnersOwnWrites"},
	},
	{
		what: "another listener has nothing read again", guards: "told at once",
		edits: edits{{In: "hearer.Confirmed", Stmt: "t.Listening(n)", Put: "_ = t"}},
		by:    tests{"TestHoldIsWatchedAgainByOtherConnections"},
	},
	{
		what: "a pool's connection goes back with tracking on", guards: "told at once",
		edits: edits{{In: "conn.release", Stmt: "c.stopTracking()", Put: "_ = c.stopTracking"}},
		by:    tests{"TestConnectionThatGoesBackToItsPoolTracksNothing"},
	},
	{
		what: "a listener's id is not looked up on the server", guards: "told at once",
		edits: edits{{In: "conn.receiveLead", Stmt: "said = ErrNoListener", Put: "_ = line"}},
		by:    tests{"TestListenerOfAnotherServerIsNotTold"},
	},
}
