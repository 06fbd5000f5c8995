package main

// releasing breaks the unlock.
var releasing = []defect{
	{
		what: "an unlock takes a fresh latch for each send",
		edits: []edit{{"internal/lockstate/release.go",
			"\tif !st.n.s.sec.again(&r.req) {\n",
			"\tl := st.n.l\n\tr.latch = codec.FreshLatch(l.Key())\n\tr.req.Wire.Call(l.kind.release(r.req.Wire.ArgBuffer[:0], l.key, l.channel, r.latch, st, st.n.c.leaseArg(r.lease), st.n.c.args.latchTTL))\n\tif !st.n.s.sec.again(&r.req) {\n"}},
		by: []catcher{{"integration/invariants", "TestR1LostUnlockReplyCountsOnce"}},
	},
	{
		what: "the latch of a repeated unlock is deleted although its first send may still arrive",
		edits: []edit{{"internal/lockstate/release.go",
			"\tif !q.MayArrive && r.want.Latch != nil {\n",
			"\tif r.want.Latch != nil {\n"}},
		by: []catcher{{"integration/invariants", "TestR1WithheldUnlockDoesNotCountTwice"}},
	},
	{
		what: "the latch is left to expire",
		edits: []edit{{"internal/lockstate/release.go",
			"\tif !q.MayArrive && r.want.Latch != nil {\n",
			"\tif false {\n"}},
		by: []catcher{{"integration/invariants", "TestR1LatchIsFreshForEachUnlockAndDeleted"}},
	},
	{
		what: "a lost unlock is not sent again",
		edits: []edit{{"internal/lockstate/release.go",
			"\tif d == 0 {\n\t\tr.send()\n",
			"\tif d == 0 {\n\t\tr.expire()\n"}},
		by: []catcher{{"integration/invariants", "TestR1LostUnlockReplyCountsOnce"}},
	},
	{
		what: "a partial unlock passes the lease of the hold that ends, not what the others need",
		edits: []edit{
			{"internal/lockstate/unlock.go",
				"\tr := newRelease(st, h.l, limit)\n",
				"\tr := newRelease(st, h.l, limit)\n\tif h.fixed {\n\t\tr.lease = roundUp(h.until - c.now())\n\t}\n"},
			{"internal/lockstate/release.go",
				"\t\tr.lease = st.commandLease(0)\n",
				"\t\tif r.lease == c.o.Watchdog {\n\t\t\tr.lease = st.commandLease(0)\n\t\t}\n"},
		},
		by: []catcher{{"integration/invariants", "TestH6PartialUnlockPassesWhatTheOthersStillNeed"}},
	},
	{
		what: "Unlock does not send once its context is over",
		edits: []edit{{"internal/lockstate/unlock.go",
			"\toutcome, wasLost, err := h.startUnlock()\n",
			"\tif err := ctx.Err(); err != nil {\n\t\treturn err\n\t}\n\toutcome, wasLost, err := h.startUnlock()\n"}},
		by: []catcher{{"integration/invariants", "TestR2UnlockWithAContextThatIsOverReleases"}},
	},
	{
		what: "a second Unlock sends a second time",
		edits: []edit{{"internal/lockstate/unlock.go",
			"\tcase h.released:\n",
			"\tcase false:\n"}},
		by: []catcher{{"integration/invariants", "TestR3SecondUnlockIsErrReleasedAndTouchesNothing"}},
	},
	{
		what: "the last unlock is not published",
		edits: []edit{{"internal/luasrc/unlock.lua",
			"  call(ARGV[4], KEYS[2], ARGV[1])\n",
			""}},
		by: []catcher{{"internal/luasrc", "TestUnlockOfTheLastHoldFreesAndTells"}, {"rlock", "TestMessageWakesWaiterOfAnotherClient"}},
	},
	{
		what: "unlock.lua does not ask whether the owner holds",
		edits: []edit{{"internal/luasrc/unlock.lua",
			"if call('hexists', lock, owner) == 0 then\n  return nil\nend\n",
			""}},
		by: []catcher{{"internal/luasrc", "TestUnlockByAnotherOwnerKeepsNoLatch"}, {"integration/invariants", "TestR3NotTheOwnerAnyMoreIsErrNotHeld"}},
	},
	{
		what: "a hold granted before a forced unlock that had to be loaded lives on",
		edits: []edit{{"internal/lockstate/force.go",
			"\tif r.MayHaveRun() {\n",
			"\tif false {\n"}},
		by: []catcher{{"rlock", "TestForcedUnlockThatIsLoadedFirstEndsWhatCameBetween"}},
	},
	{
		what: "Close gives up an unlock that waits for its owner's earlier command",
		edits: []edit{{"internal/lockstate/release.go",
			"r.reported || r.st.n.now() <= r.req.Until: // Close",
			"r.reported: // Close"}},
		by: []catcher{{"rlock", "TestE1CloseSendsAReleaseThatIsInTheCommandQueue"}},
	},
	{
		what: "a forced unlock without an answer is believed not to have run",
		edits: []edit{{"internal/lockstate/force.go",
			"\tif r.MayHaveRun() {\n",
			"\tif r.Wire.Err == nil {\n"}},
		by: []catcher{{"integration/invariants", "TestH3GrantBeforeAForcedUnlockThatWasLoadedAndLostIsNotTrusted"}},
	},
}
