package main

// forTests breaks rlocktest, with which users test their own code.
var forTests = []defect{
	{"the server's clock stands still", "rlocktest", tests{"TestLeaseEnds"},
		edits{{In: "rlocktest.runClock", Call: "m.FastForward", Put: "_ = now.Sub(last)"}}},
	{"servers of several bubbles have one address", "rlocktest", tests{"TestAnotherServersLockIsNotTakenAway"},
		edits{{In: "rlocktest.newVirtual", Call: "virtuals.Add", Put: "uint32(1)"}}},
	{"a reply that is to be lost is lost before its script has run", "rlocktest", tests{"TestLostReplies"},
		edits{{In: "rlocktest.conn.Write", Call: "c.loses.Store", Put: "return 0, io.EOF"}}},
	{"a hold that is to be lost is released", "rlocktest", tests{"TestHoldWithoutAServerEndsAsItIsTold"},
		edits{{In: "rlocktest.NewHold", Stmt: "_, err = lock.ForceUnlock(ctx)", Put: "err = hold.Unlock(ctx)"}}},
	{"a hold of another client outlives the lock that was taken away", "rlocktest", tests{"TestAnyLockIsTakenAway"},
		edits{{In: "TakenAway", If: "n.lock.name == from", Put: "false"}}},
	{"permits are not taken away", "rlocktest", tests{"TestAnyLockIsTakenAway"},
		edits{{In: "Client.takePermitsAway", If: "err != nil || taken == 0", Put: "err != nil || taken >= 0"}}},
	{"a test that takes nothing away goes on", "rlocktest", tests{"TestTakingNothingAwayFailsTheTest"},
		edits{{In: "Client.TakeAway", If: "!c.takePermitsAway(name)", Put: "c.takePermitsAway(name) && false"}}},
}
