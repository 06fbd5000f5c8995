package main

// talking breaks the connection to the server and what is believed of it.
var talking = []defect{
	{
		what: "each NOSCRIPT loads the script",
		edits: []edit{{"internal/pipeline/script.go",
			"\t\tif ld == nil || !ld.queued && ld.batch <= r.batch {\n",
			"\t\tif true {\n"}},
		by: []catcher{{"internal/pipeline", "TestA1ScriptIsLoadedOnceForAllWhoMissIt"}, {"integration/invariants", "TestA1NoScriptLoadsOnce"}},
	},
	{
		what: "lengths that a server names are not checked",
		edits: []edit{{"internal/redisconn/guard.go",
			"\tif serr := g.s.scan(p[:n]); serr != nil {\n\t\tg.Conn.Close()\n\t\treturn 0, serr\n\t}\n",
			""}},
		by: []catcher{{"internal/redisconn", "TestDialledConnectionSurvivesHostileLength"}},
	},
	{
		what: "a server's error repeats the password",
		edits: []edit{{"internal/redisconn/dial.go",
			"redact(err, password)",
			"err"}},
		by: []catcher{{"integration/security", "TestSecretsStaySecret"}},
	},
	{
		what: "a deleted latch that was lost on its way is not deleted again",
		edits: []edit{{"internal/pipeline/pipeline.go",
			"\t\tcase lost || refused:\n",
			"\t\tcase refused && !lost:\n"}},
		by: []catcher{{"internal/pipeline", "TestDiscardThatABrokenConnectionSwallowedIsSentAgain"}},
	},
	{
		what: "a key to delete is a reason to dial at once, again and again",
		edits: []edit{{"internal/pipeline/connect.go",
			"\t\tp.discardNow = false\n",
			""}},
		by: []catcher{{"internal/pipeline", "TestKeyToDeleteIsNoReasonToDialWithoutPause"}},
	},
	{
		what: "a pool is asked for another connection before it has the broken one back",
		edits: []edit{{"internal/pipeline/connect.go",
			"p.dialling || p.releasing || p.conn",
			"p.dialling || p.conn"}},
		by: []catcher{{"internal/pipeline", "TestPoolOfTwoIsEnoughWhenAConnectionBreaks"}},
	},
	{
		what: "connections that break at once are made without a pause",
		edits: []edit{{"internal/pipeline/connect.go",
			"\tp.pause(initial)\n",
			"\tp.pause(0 * initial)\n"}},
		by: []catcher{{"rlock", "TestConnectionsThatBreakAtOnceAreMadeWithPauses"}},
	},
	{
		what: "a replica that is met on the way to the master is no reason to subscribe anew",
		edits: []edit{{"internal/pipeline/connect.go",
			"\t\tif replica {\n",
			"\t\tif false {\n"}},
		by: []catcher{{"internal/pipeline", "TestMoveIsToldWhenAReplicaWasRefusedMeanwhile"}},
	},
}
