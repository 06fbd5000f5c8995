package main

// once breaks the unlock of owners that are used once.
var once = []defect{
	{
		what: "an owner that was shown is unlocked without a latch", guards: "R4, R1",
		edits: edits{
			{In: "Release.first", Case: "m.Rules.Once && !f.Shown", Put: "m.Rules.Once"},
			{In: "Release.send", Case: "m.Form.once() && f.Shown && f.Reached != 0 && f.MayArrive", Put: "false"},
			{In: "Release.send", Case: "m.Form.once() && f.Shown && f.Reached != 0", Put: "false"},
			{In: "Release.send", Case: "m.Form.once() && f.Shown", Put: "false"},
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
		edits: edits{
			{In: "Release.send", Case: "m.Form.once() && f.Shown && f.Reached != 0 && f.MayArrive", Put: "false"},
			{In: "Release.send", Case: "m.Form.once() && f.Shown && f.Reached != 0", Put: "false"},
			{In: "Release.send", Case: "m.Form.once() && f.Shown", Put: "false"},
		},
		by: tests{"TestR4ShownMeanwhileIsDecidedByTheCount"},
	},
	{
		what: "whatever a shown owner holds, its lost unlock has run", guards: "R4",
		edits: edits{{In: "Release.Heard", Case: "a.Err != nil || a.N != 0", Put: "a.Err != nil"}},
		by:    tests{"TestR4ShownMeanwhileIsDecidedByTheCount"},
	},
	{
		what: "an owner is used again although its unlock may still arrive", guards: "R4",
		edits: edits{{In: "Release.end", If: "f.MayArrive && m.Form.once()", Put: "false"}},
		by:    tests{"TestR4WithoutAKillBarrier"},
	},
	{
		what: "an owner that holds nothing after a lost unlock never held", guards: "R4",
		edits: edits{{In: "Release.answeredOnce", Case: "a.Did == codec.NotHeld && m.lost()", Put: "false"}},
		by:    tests{"TestR4LostUnlockOfAnOwnerThatIsUsedOnceIsSentAgain"},
	},
	{
		what: "an unlock that has no answer at the limit was not sent", guards: "R4",
		edits: edits{{In: "Release.Tick", If: "m.Unsent(waits, f)", Put: "true"}},
		by:    tests{"TestR4UnlockWithoutAnAnswerAtTheLimitIsUncertain"},
	},
	{
		what: "an unlock that left a hold is sent again", guards: "R4",
		edits: edits{{In: "Release.answeredOnce", Stmt: "do = Acted", Put: "return Acted | m.send(f, 0)"}},
		by:    tests{"TestR4HoldsThatAreLeftAreSomebodyElses"},
	},
	{
		what: "an unlock without a latch is given up with its caller", guards: "R4",
		edits: edits{{In: "Release.first", Expr: "max(m.Limit, m.Unheld, f.Lasts)", Put: "m.Limit"}},
		by:    tests{"TestR4UnlockGoesOnInTheBackground"},
	},
	{
		what: "an unlock without a latch is given up although a lost Extend may have run", guards: "R4",
		edits: edits{{In: "Release.first", Expr: "max(m.Limit, m.Unheld, f.Lasts)", Put: "max(m.Limit, m.Unheld)"}},
		by:    tests{"TestR4UnlockGoesOnForTheLeaseOfAnExtendThatMayHaveRun"},
	},
	{
		what: "an owner is used again although an unlock that set no latch may still arrive", guards: "R4",
		edits: edits{{In: "Release.answeredLatched", If: "f.MayArrive", Put: "false"}},
		by:    tests{"TestR4UnlockThatFoundNothingWithoutAKillBarrier"},
	},
	{
		what: "an unlock whose announcement was refused did not release", guards: "R4",
		edits: edits{{In: "Release.Fail", Case: "how == Partly && m.Form.once() && !f.Shown", Put: "false"}},
		by:    tests{"TestForbiddenChannel"},
	},
	{
		what: "replicas have what an unlock did before its answer was lost", guards: "R4",
		edits: edits{{In: "Release.gone", If: "f.Replicas", Put: "false"}},
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
