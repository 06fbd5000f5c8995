package main

// once breaks the unlock of owners that are used once.
var once = []defect{
	{
		what: "an owner that was shown is unlocked without a latch", guards: "R4, R1",
		edits: edits{
			{In: "release.encode", Expr: "r.l.traits.Once && !r.st.shown()", Put: "r.l.traits.Once"},
			{In: "release.send", If: "r.once && st.shown()", Put: "false"},
		},
		by: tests{"TestR1LostUnlockReplyCountsOnce"},
	},
	{
		what: "Owner does not say that the owner is shown", guards: "R4",
		edits: edits{
			{In: "lockstate.Hold.Owner", Stmt: "h.st.marked = true", Put: "_ = o"},
			{In: "lockstate.Hold.Owner", Stmt: "st.marked = true", Put: "_ = st"},
		},
		by: tests{"TestR4ShownMeanwhileIsDecidedByTheCount"},
	},
	{
		what: "an owner whose text is read shows nobody anything", guards: "R4",
		edits: edits{{In: "OwnerState.shown", Expr: "st.marked || _", Put: "st.marked"}},
		by:    tests{"TestR4ShownMeanwhileIsDecidedByTheCount", "TestR4WhoIsShownKeepsTheLatch"},
	},
	{
		what: "an acquire as an owner does not say that it is shown", guards: "R4",
		edits: edits{{In: "name.ensureShown", Stmt: "st.marked = true", Put: "_ = st"}},
		by:    tests{"TestR4WhoIsShownKeepsTheLatch"},
	},
	{
		what: "an owner of which a lost unlock may arrive is given up for good", guards: "R4",
		edits: edits{{In: "State.stray", Call: "c.timers.After", Remove: true}},
		by:    tests{"TestR4OwnerMayActAgainWhenNothingCanArrive"},
	},
	{
		what: "an unlock that was lost before its owner was shown is sent again", guards: "R4",
		edits: edits{{In: "release.send", If: "r.once && st.shown()", Put: "false"}},
		by:    tests{"TestR4ShownMeanwhileIsDecidedByTheCount"},
	},
	{
		what: "whatever a shown owner holds, its lost unlock has run", guards: "R4",
		edits: edits{{In: "release.countOnce", Case: "said.Count != 0", Put: "false"}},
		by:    tests{"TestR4ShownMeanwhileIsDecidedByTheCount"},
	},
	{
		what: "an owner is used again although its unlock may still arrive", guards: "R4",
		edits: edits{{In: "release.finishCommand", If: "r.once && r.req.MayArrive", Put: "false"}},
		by:    tests{"TestR4WithoutAKillBarrier"},
	},
	{
		what: "an owner that holds nothing after a lost unlock never held", guards: "R4",
		edits: edits{{In: "release.answeredOnce", Case: "r.lost", Put: "false"}},
		by:    tests{"TestR4LostUnlockOfAnOwnerThatIsUsedOnceIsSentAgain"},
	},
	{
		what: "an unlock that has no answer at the limit was not sent", guards: "R4",
		edits: edits{{In: "release.reportIfLate", Case: "(r.once || r.split) && (r.paused || _)", Put: "r.once"}},
		by:    tests{"TestR4UnlockWithoutAnAnswerAtTheLimitIsUncertain"},
	},
	{
		what: "an unlock that left a hold is sent again", guards: "R4",
		edits: edits{{In: "release.answeredOnce", Call: "n.l.c.log.ActedAs", Before: "r.send(); return"}},
		by:    tests{"TestR4HoldsThatAreLeftAreSomebodyElses"},
	},
	{
		what: "an unlock without a latch is given up with its caller", guards: "R4",
		edits: edits{{In: "release.encode", Stmt: "r.req.Until = max(r.limit, r.unheld, r.st.lasts)", Put: "r.req.Until = r.limit"}},
		by:    tests{"TestR4UnlockGoesOnInTheBackground"},
	},
	{
		what: "an unlock without a latch is given up although a lost Extend may have run", guards: "R4",
		edits: edits{{In: "release.encode", Stmt: "r.req.Until = max(r.limit, r.unheld, r.st.lasts)", Put: "r.req.Until = max(r.limit, r.unheld)"}},
		by:    tests{"TestR4UnlockGoesOnForTheLeaseOfAnExtendThatMayHaveRun"},
	},
	{
		what: "an owner is used again although an unlock that set no latch may still arrive", guards: "R4",
		edits: edits{{In: "release.answered", If: "q.MayArrive", Put: "false"}},
		by:    tests{"TestR4UnlockThatFoundNothingWithoutAKillBarrier"},
	},
	{
		what: "an unlock whose announcement was refused did not release", guards: "R4",
		edits: edits{{In: "release.notAnswered", Case: "q.MayHaveRun() && r.once && !r.st.shown()", Put: "false"}},
		by:    tests{"TestForbiddenChannel"},
	},
	{
		what: "replicas have what an unlock did before its answer was lost", guards: "R4",
		edits: edits{{In: "release.gone", If: "r.req.Wire.Replicas > 0", Put: "false"}},
		by:    tests{"TestReplicasOfAnUnlockAreAskedOnceMore"},
	},
	{
		what: "a WAIT that was cut off was acknowledged", guards: "R4",
		edits: edits{{In: "completion.Complete", Expr: "r.Wire.Acked < 0", Put: "r.Wire.Acked < -1"}},
		by:    tests{"TestReplicasOfAnUnlockAreAskedOnceMore"},
	},
	{
		what: "an owner that was handed out is looked for among all names", guards: "R4, crowds",
		edits: edits{{In: "State.act", Case: "o.thread&1 == even || o.thread <= a.handedOut.Load()", Put: "o.thread&1 == even"}},
		by:    tests{"TestOwnerThatWasHandedOutIsNotLookedFor"},
	},
	{
		what: "an own number that nobody was given is an owner", guards: "R4",
		edits: edits{
			{In: "State.act", Case: "o.thread < 1 || _", Put: "false"},
			{In: "State.act", If: "!l.knows(o) && _", Put: "false"},
		},
		by: tests{"TestR4OwnNumberThatWasNeverHandedOutIsRefused"},
	},
}
