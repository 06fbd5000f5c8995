package main

// releasing breaks the unlock, the end of a client, and what is asked of a caller.
var releasing = []defect{
	{
		what: "each send of an unlock has a latch of its own", guards: "R1",
		edits: edits{{In: "release.send", If: "!st.n.s.sec.enqueue(&r.req)", Before: "r.want.Latch = r.l.freshLatch(); r.l.fill(&r.req, r.call())"}},
		by:    tests{"TestR1LostUnlockReplyCountsOnce"},
	},
	{
		what: "a repeated unlock that finds nothing was never held, though its announcement is refused", guards: "R1",
		edits: edits{{In: "release.answered", If: "r.lost && r.alive && !r.l.traits.Silent", Put: "false"}},
		by:    tests{"TestR1RepetitionThatFindsNothingIsNotHeldOnlyIfTheUnlockCouldRun"},
	},
	{
		what: "a renewal that no replica acknowledged is relied on", guards: "H1",
		edits: edits{{In: "renewal.Done", If: "mine[i] && unreplicated", Put: "false && unreplicated"}},
		by:    tests{"TestRenewalThatNoReplicaAcknowledgesIsNotReliedOn"},
	},
	{
		what: "an extension that no replica acknowledged is relied on", guards: "H1",
		edits: edits{{In: "extension.answered", Case: "r.Unreplicated", Put: "false"}},
		by:    tests{"TestExtensionThatNoReplicaAcknowledgesIsNotReliedOn"},
	},
	{
		what: "the latch of a repeated unlock is deleted although its first send may still arrive", guards: "R1",
		edits: edits{{In: "release.answered", Expr: "!q.MayArrive", Put: "true"}},
		by:    tests{"TestR1WithheldUnlockDoesNotCountTwice"},
	},
	{
		what: "Unlock does not send once its context is over", guards: "R2",
		edits: edits{{In: "lockstate.Hold.Unlock", Call: "h.startUnlock", Before: "if err := ctx.Err(); err != nil { return err }"}},
		by:    tests{"TestR2UnlockWithAContextThatIsOverReleases"},
	},
	{
		what: "a second Unlock sends a second time", guards: "R3",
		edits: edits{{In: "Hold.startUnlock", Case: "h.released", Put: "false"}},
		by:    tests{"TestR3SecondUnlockIsErrReleasedAndTouchesNothing"},
	},
	{
		what: "Close gives up an unlock that waits for its owner's earlier command", guards: "E1",
		edits: edits{{In: "release.reportIfLate", Case: "r.reported || _", Put: "r.reported"}},
		by:    tests{"TestE1CloseSendsAReleaseThatIsInTheCommandQueue"},
	},
	{
		what: "a lease below a millisecond is sent", guards: "I1",
		edits: edits{{In: "checkLease", If: "d < time.Millisecond", Put: "d < 0"}},
		by:    tests{"TestI1BadInputIsNamedBeforeAnythingIsSent"},
	},
}
