package main

// forTests breaks rlocktest, with which users test their own code.
var forTests = []defect{
	{
		what: "the server's clock stands still", guards: "rlocktest",
		edits: edits{{In: "Client.runClock", Call: "c.server.FastForward", Put: "_ = now.Sub(last)"}},
		by:    tests{"TestLeaseEndsByTheMachinesClock"},
	},
	{
		what: "a reply that is to be lost is lost before its script has run", guards: "rlocktest",
		edits: edits{{In: "rlocktest.conn.Write", Call: "c.loses.Store", Put: "return 0, io.EOF"}},
		by:    tests{"TestLostReplies"},
	},
	{
		what: "a hold that is to be lost is released", guards: "rlocktest",
		edits: edits{{In: "rlocktest.NewHold", Stmt: "_, err = lock.ForceUnlock(ctx)", Put: "err = hold.Unlock(ctx)"}},
		by:    tests{"TestHoldWithoutAServerEndsAsItIsTold"},
	},
}
