package main

// holding breaks renewal, trust and the telling of a loss.
var holding = []defect{
	{
		what: "trust in a grant counts from its reply", guards: "H1",
		edits: edits{{In: "attempt.granted", Call: "st.grant", Arg: 3, Put: "n.now()"}},
		by:    tests{"invariants.TestH1TrustCountsFromTheSend"},
	},
	{
		what: "a renewal ignores \"not yours\"", guards: "H2",
		edits: edits{{In: "renewal.Done", Case: "mine[i]", Put: "true"}},
		by:    tests{"TestH2NotYoursIsALossAtOnce"},
	},
	{
		what: "one poisoned key fails its whole batch", guards: "H2",
		edits: edits{{In: "leaseScript.read", If: "err != nil && len(s.subs) > 1 && _ && _ && _", Put: "err != nil && len(s.subs) > watchdog.MaxBatch"}},
		by:    tests{"TestH2PoisonedKeySpoilsNoOthersLease"},
	},
	{
		what: "leases of one slot are renewed each for itself", guards: "renewals of a cluster",
		edits: edits{{In: "lockstate.renewGroup", If: "top.SpansSlots()", Put: "true"}},
		by:    tests{"TestHoldsOfASlotAreRenewedByOneScript"},
	},
	{
		what: "a group's leases are drawn in a sixth ahead only", guards: "renewals of a cluster",
		edits: edits{{In: "Watchdog.put", Stmt: "near = Never", Put: "_ = near"}},
		by:    tests{"TestLeaseThatCameDuringARenewalIsDrawnIn"},
	},
	{
		what: "leases that are renewed at once are renewed without a pace", guards: "watchdog's pace",
		edits: edits{{In: "Watchdog.RenewThose", Stmt: "b.hurried = true", Put: "b.hurried = false"}},
		by:    tests{"TestRenewNowRenewsAllInTheirOrder"},
	},
	{
		what: "Err waits for the watchdog instead of reading the clock", guards: "H3",
		edits: edits{{In: "lockstate.Hold.Err", Stmt: "return h.check()", Put: "return h.ended"}},
		by:    tests{"TestH3ErrReadsTheClockItself"},
	},
	{
		what: "a hold ends with the context that bounded its wait", guards: "H4",
		edits: edits{{In: "Waiter.Result", If: "h != nil", Before: "if h != nil { context.AfterFunc(ctx, func() { _ = h.Unlock(context.Background()) }) }"}},
		by:    tests{"TestH4HoldOutlivesTheContextThatBoundedTheWait"},
	},
	{
		what: "a lease is renewed before its acquire is answered", guards: "H5",
		edits: edits{
			{In: "attempt.begin", Stmt: "a.forces = n.forces", Before: "st.lease.Live(n.now()+a.lease, n.now(), 1<<62)"},
			{In: "nodePart.ready", If: "!st.beginRenewal()", Put: "!st.beginRenewal() && false"},
		},
		by: tests{"TestH5PendingLeaseIsNotRenewed"},
	},
	{
		what: "the watchdog knows a lease while its unlock is sent", guards: "H5",
		edits: edits{{In: "releasing.encode", Call: "st.forget", Remove: true}},
		by:    tests{"TestH5RefusedUnlockIsNotRenewed", "TestPermitsWhoseReleaseIsRefusedAreNotRenewed"},
	},
	{
		what: "the answer to an earlier renewal counts", guards: "watchdog's generations, H5",
		edits: edits{{In: "Watchdog.answer", If: "l.state != inFlight || _", Put: "l.state != inFlight"}},
		by:    tests{"TestH5AnswerForAnEarlierRenewalIsIgnored"},
	},
	{
		what: "a nested acquire shortens the outer lease", guards: "H6",
		edits: edits{{In: "attempt.begin", Stmt: "a.lease = st.commandLease(_)", Put: "a.lease = cmp.Or(w.Terms.Lease, c.o.Watchdog)"}},
		by:    tests{"TestH6NestedAcquireNeverShortensTheOuterLease"},
	},
	{
		what: "a renewal does not wait for its owner's open command", guards: "H6",
		edits: edits{{In: "nodePart.ready", If: "!st.beginRenewal()", Put: "!st.beginRenewal() && false"}},
		by:    tests{"TestH6RenewalWaitsForAnOpenCommand"},
	},
}
