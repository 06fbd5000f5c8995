package main

// holding breaks renewal, trust and the report of a loss.
var holding = []defect{
	{"trust in a grant counts from its reply", "H1", tests{"invariants.TestH1TrustCountsFromTheSend"},
		edits{{In: "attempt.granted", Call: "st.Grant", Arg: 3, Put: "n.Now()"}}},
	{"a renewal ignores \"not yours\"", "H2", tests{"TestH2NotYoursIsALossAtOnce"},
		edits{{In: "renewal.Answered", Case: "mine[i]", Put: "true"}}},
	{"one poisoned key fails its whole batch", "H2", tests{"TestH2PoisonedKeySpoilsNoOthersLease"},
		edits{{In: "script.read", If: "err != nil && len(s.subs) > 1 && _ && _ && _", Put: "err != nil && len(s.subs) > watchdog.MaxBatch"}}},
	{"leases of one slot are renewed each for itself", "renewals of a cluster", tests{"TestHoldsOfASlotAreRenewedByOneScript"},
		edits{{In: "renew.group", If: "top.SpansSlots()", Put: "true"}}},
	{"a group's leases are drawn in a sixth ahead only", "renewals of a cluster", tests{"TestLeaseThatCameDuringARenewalIsDrawnIn"},
		edits{{In: "Watchdog.put", Stmt: "near = Never", Put: "_ = near"}}},
	{"leases that are renewed at once are renewed without a pace", "watchdog's pace", tests{"TestRenewNowRenewsAllInTheirOrder"},
		edits{{In: "Watchdog.RenewThose", Stmt: "b.hurried = true", Put: "b.hurried = false"}}},
	{"Err waits for the watchdog instead of reading the clock", "H3", tests{"TestH3ErrReadsTheClockItself"},
		edits{{In: "state.Hold.Err", Expr: "h.Check()", Put: "h.Ended"}}},
	{"a hold ends with the context that bounded its wait", "H4", tests{"TestH4HoldOutlivesTheContextThatBoundedTheWait"},
		edits{{In: "Waiter.Result", If: "h != nil", Before: "if h != nil { context.AfterFunc(ctx, func() { _ = unlock.Hold(context.Background(), h) }) }"}}},
	{"a lease is renewed before its acquire is answered", "H5", tests{"TestH5PendingLeaseIsNotRenewed"},
		edits{
			{In: "attempt.Start", Stmt: "a.forces = n.Forces", Before: "st.Lease.Live(n.Now()+a.lease, n.Now(), 1<<62)"},
			{In: "OwnerState.Begin", If: "!st.beginRenewal()", Put: "!st.beginRenewal() && false"},
		}},
	{"the watchdog knows a lease while its unlock is sent", "H5", tests{"TestH5RefusedUnlockIsNotRenewed", "TestPermitsWhoseReleaseIsRefusedAreNotRenewed"},
		edits{{In: "releasing.encode", Call: "st.Forget", Remove: true}}},
	{"the answer to an earlier renewal counts", "watchdog's generations, H5", tests{"TestH5AnswerForAnEarlierRenewalIsIgnored"},
		edits{{In: "Watchdog.answer", If: "l.state != inFlight || _", Put: "l.state != inFlight"}}},
	{"a nested acquire shortens the outer lease", "H6", tests{"TestH6NestedAcquireNeverShortensTheOuterLease"},
		edits{{In: "attempt.Start", Stmt: "a.lease = st.CommandLease(_)", Put: "a.lease = cmp.Or(w.Terms.Lease, c.Watchdog)"}}},
	{"a renewal does not wait for its owner's open command", "H6", tests{"TestH6RenewalWaitsForAnOpenCommand"},
		edits{{In: "OwnerState.Begin", If: "!st.beginRenewal()", Put: "!st.beginRenewal() && false"}}},
}
