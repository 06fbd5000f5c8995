package main

// moving breaks what happens when the master is another server, and what a connection is believed.
var moving = []defect{
	{
		what: "READONLY is passed on to the caller",
		edits: []edit{{"internal/topology/single.go",
			"\tif said.ReadOnly() {\n",
			"\tif false {\n"}},
		by: []catcher{{"internal/command", "TestReadOnlyCommandGoesToTheServerThatTheAddressLeadsTo"}, {"integration/behaviour", "TestPoolFollowsItsAddressToAnotherMaster"}},
	},
	{
		what: "a connection is used whatever role its server has",
		edits: []edit{{"internal/pipeline/connect.go",
			"\t\terr = p.o.Usable(ident.server)\n",
			"\t\terr = nil\n"}},
		by: []catcher{{"internal/pipeline", "TestServersThatAreNotSingleAreRefused"}, {"integration/behaviour", "TestReplicaIsToldAsThat"}},
	},
	{
		what: "a pool gets the connections to a former master back",
		edits: []edit{{"internal/pipeline/connect.go",
			"\t\to.Interrupt() // a pool must not lend it again\n",
			""}},
		by: []catcher{{"internal/pipeline", "TestPoolFullOfConnectionsToAReplicaIsEmptied"}},
	},
	{
		what: "a retired connection is broken off with replies owed",
		edits: []edit{{"internal/pipeline/moved.go",
			"\tif idle && c.managed != nil {\n",
			"\tif (idle || true) && c.managed != nil {\n"}},
		by: []catcher{{"internal/pipeline", "TestRetiredConnectionLosesNothing"}},
	},
	{
		what: "the subscriptions stay with the former master",
		edits: []edit{{"internal/topology/node.go",
			"\t\t\tn.Hub.Redial()\n\t\t\tif o.Moved",
			"\t\t\tif o.Moved"}},
		by: []catcher{{"rlock", "TestSubscriptionsFollowTheCommandsToAnotherServer"}},
	},
	{
		what: "holds are not renewed when a connection ends",
		edits: []edit{{"internal/lockstate/follow.go",
			"\t\tc.watchdog.RenewNow()\n",
			""}},
		by: []catcher{{"rlock", "TestHoldThatTheNextServerLacksIsLostAtOnce"}},
	},
	{
		what: "replies that were left on a lent connection stay there",
		edits: []edit{{"internal/redisconn/borrow.go",
			"\t\tif err := drain(ctx, c); err != nil {\n",
			"\t\tif err := error(nil); err != nil {\n"}},
		by: []catcher{{"rlock", "TestPoolThatLeavesRepliesBehindLetsNobodyIn"}},
	},
	{
		what: "replies of another shape count as refusals to tell",
		edits: []edit{
			{"internal/pipeline/handshake.go",
				"\tn, ok := reply.(int64)\n\tif !ok {\n\t\tx.err = errStray(command, reply)\n\t}\n",
				"\tn, ok := reply.(int64)\n\tif !ok {\n\t\treturn 0, errStray(command, reply)\n\t}\n"},
			{"internal/pipeline/handshake.go",
				"\tb, ok := reply.([]byte)\n\tif !ok {\n\t\tx.err = errStray(command, reply)\n\t}\n",
				"\tb, ok := reply.([]byte)\n\tif !ok {\n\t\treturn \"\", errStray(command, reply)\n\t}\n"},
			{"internal/pipeline/handshake.go",
				"\tif err != nil {\n\t\tx.err = fmt.Errorf(\"%w: %w\", errOutOfStep, err)\n\t}\n",
				"\t_ = err\n"},
		},
		by: []catcher{{"internal/pipeline", "TestConnectionWhoseRepliesAreOutOfStepIsNotUsed"}},
	},
}
