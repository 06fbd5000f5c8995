package main

// acquiring breaks how a lock is taken and how a lost acquire is undone.
var acquiring = []defect{
	{
		what: "a lost acquire is blindly sent again",
		edits: []edit{{"rlock/attempt.go",
			"\tcase lost(err):\n\t\ta.lost(err)\n",
			"\tcase lost(err):\n\t\tc.node.pipe.Enqueue(&a.req)\n"}},
		by: []catcher{{"integration/invariants", "TestA5LostAcquireReplyIsUndone"}, {"integration/invariants", "TestA5SharedOwnersCountIsExactAfterALostReply"}},
	},
	{
		what: "a lost acquire is not undone",
		edits: []edit{{"rlock/undo.go",
			"\t\t\t\ta.undo(closed)\n",
			"\t\t\t\ta.resume()\n"}},
		by: []catcher{{"integration/invariants", "TestA5LostAcquireReplyIsUndone"}},
	},
	{
		what: "an undo goes without the fence: no CLIENT KILL before it",
		edits: []edit{{"internal/pipeline/fence.go",
			"\tfor _, k := range old {\n\t\tx.send(\"CLIENT\", \"KILL\", \"ID\", k.id, \"ADDR\", k.addr)\n",
			"\tfor range old {\n\t\tx.send(\"CLIENT\", \"ID\")\n"}},
		by: []catcher{{"integration/invariants", "TestA5WithheldAcquireNeverRuns"}, {"internal/pipeline", "TestA5NextConnectionBeginsWithKillingTheLast"}},
	},
	{
		what: "the fence names a connection by its id alone",
		edits: []edit{{"internal/pipeline/fence.go",
			"send(\"CLIENT\", \"KILL\", \"ID\", k.id, \"ADDR\", k.addr)",
			"send(\"CLIENT\", \"KILL\", \"ID\", k.id)"}},
		by: []catcher{{"internal/pipeline", "TestA5FenceAfterRestartHitsNobodyElse"}},
	},
	{
		what: "a refused fence passes for a fence",
		edits: []edit{{"internal/pipeline/fence.go",
			"append(w.killed, refusal == nil)",
			"append(w.killed, refusal == nil || true)"}},
		by: []catcher{{"internal/pipeline", "TestA5RefusedFenceIsToldAsSuch"}, {"integration/invariants", "TestA5WithoutKillALateAcquireIsRemoved"}},
	},
	{
		what: "a lost re-entry is undone without looking at the count",
		edits: []edit{{"rlock/undo.go",
			"\t\tcase count == known:\n\t\t\ta.resume()\n\t\tcase count == known+1 && n.c.alone(t.owner):\n",
			"\t\tcase count == known || count == known+1:\n"}},
		by: []catcher{{"integration/invariants", "TestA5SharedOwnersCountIsExactAfterALostReply"}},
	},
	{
		what: "one hold more of an owner that others may use is taken for the lost acquire",
		edits: []edit{{"rlock/undo.go",
			"case count == known+1 && n.c.alone(t.owner):",
			"case count == known+1 && t.owner.client == n.c.id:"}},
		by: []catcher{{"integration/invariants", "TestA5HoldOfAnotherClientIsNotUndone"}},
	},
	{
		what: "a grant whose caller has left is not given back",
		edits: []edit{{"rlock/attempt.go",
			"\tcase w.settled:\n\t\th.giveBack()\n\t\ta.tellLine()\n",
			"\tcase w.settled:\n\t\ta.tellLine()\n"}},
		by: []catcher{{"integration/invariants", "TestA6GrantAfterTheEndIsGivenBack"}, {"integration/invariants", "TestH5AbandonedGrantIsNotRenewed"}},
	},
	{
		what: "a grant that meets the end of its context is returned to nobody",
		edits: []edit{{"rlock/waiter.go",
			"\t\th := w.hold\n\t\tw.hold = nil\n\t\th.giveBack()\n",
			"\t\tw.hold = nil\n"}},
		by: []catcher{{"integration/invariants", "TestA4ContextThatEndsBetweenGrantAndReturnWins"}},
	},
	{
		what: "an elapsed wait that nobody answered says \"locked\"",
		edits: []edit{{"rlock/waiter.go",
			"\ttold := w.wasTold()\n",
			"\ttold := true\n"}},
		by: []catcher{{"integration/invariants", "TestA6UnreachableServerIsNeither"}},
	},
	{
		what: "a waiter is used again by others while its caller still reads what it got",
		edits: []edit{{"rlock/reuse.go",
			"\tif w.partings.Add(1) < 2 {\n",
			"\tif w.partings.Add(1) < 1 {\n"}},
		by: []catcher{{"integration/behaviour", "TestNobodyIsHandedWhatWasMeantForAnother"}},
	},
}
