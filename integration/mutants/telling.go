package main

// telling breaks what callers are told, and what becomes of their calls where a master is left.
var telling = []defect{
	{
		what: "a server that can't be reached is called its refusal", guards: "kinds of errors",
		edits: edits{{In: "Unavailable", Stmt: "return true", Put: "return false"}},
		by:    tests{"TestErrorOfEveryCallIsOfAKind"},
	},
	{
		what: "a wait that ends before there is a connection has the connection's bare error", guards: "kinds of errors",
		edits: edits{{In: "ofKind", Stmt: "return lockstate.OfKind(err)", Put: "return err"}},
		by:    tests{"TestErrorOfEveryCallIsOfAKind"},
	},
	{
		what: "a slot that does not settle is told in the server's words alone", guards: "kinds of errors",
		edits: edits{{In: "Request.unsettled", Expr: `"the servers did not settle in time which of them serves its slot: %w"`, Put: `"%w"`}},
		by:    tests{"TestErrorOfASlotThatDoesNotSettleSaysSo", "TestCommandThatIsSentInCirclesPasses"},
	},
	{
		what: "connections to a master that was left stay", guards: "topology",
		edits: edits{{In: "Sentinel.leave", Call: "target.Sever", Put: "fmt.Sprint(target)"}},
		by:    tests{"TestAcquiresThatAreLostWithADemotedMasterHoldNothing"},
	},
	{
		what: "why a server refused a certificate is not asked once more", guards: "kinds of errors",
		edits: edits{{In: "Target.Dial", Stmt: "err = t.alert(ctx, err)", Put: "_ = t.alert"}},
		by:    tests{"TestRefusedCertificateIsToldThoughItsAlertWasLost"},
	},
	{
		what: "a master that is being replaced is connected to", guards: "topology",
		edits: edits{{In: "choice.replaced", Stmt: "return going && now.Sub(c.going) < leftFor", Put: "return false"}},
		by:    tests{"TestNewestConfigurationOfTheMasterCounts", "TestMasterThatIsBeingReplacedIsNotConnectedTo"},
	},
	{
		what: "the last sort of subscribers that is asked for is the number of waiters", guards: "Info",
		edits: edits{{In: "lockstate.Lock.countListeners", Stmt: "most = max(most, n)", Put: "most = n"}},
		by:    tests{"TestInfoCountsBothSortsOfSubscribers"},
	},
	{
		what: "a server that refuses to count subscribers fails the whole answer", guards: "Info",
		edits: edits{{In: "lockstate.Lock.countListeners", If: "command.IsRefusal(err)", Put: "false"}},
		by:    tests{"TestInfoWithoutLeaveToCount"},
	},
	{
		what: "a single field of a hash is an owner, whatever it says", guards: "I2",
		edits: edits{{In: "DecodeHolder", Stmt: `return Holder{}, false, &ShapeError{What: "owner", Got: quote(h.Owner)}`, Put: "_ = quote"}},
		by:    tests{"TestHolders", "TestInfoOfWhatIsNoLock"},
	},
	{
		what: "a loss is not linked to a change of master", guards: "log lines",
		edits: edits{{In: "State.changed", If: "change.NewMaster", Put: "false"}},
		by:    tests{"TestHoldThatTheNewMasterLacksIsTold", "TestThePageTellsEveryEvent"},
	},
	{
		what: "each look at the Sentinels warns of slow failovers", guards: "log lines",
		edits: edits{{In: "Sentinel.warn", Stmt: "t.warned.Do(_)", Put: "t.s.Log.FailoverTooSlow(said.from, said.downAfter, t.s.Lease)"}},
		by:    tests{"TestThePageTellsEveryEvent"},
	},
	{
		what: "a hold that is renewed is never old", guards: "log lines",
		edits: edits{{In: "OwnerState.grant", Expr: "c.o.LongHold > 0", Put: "c.o.LongHold < 0"}},
		by:    tests{"TestThePageTellsEveryEvent"},
	},
	{
		what: "a slot's first server is a change of servers to an observer", guards: "observer",
		edits: edits{{
			In: "State.nodeChanged", If: "c.o.Observer == nil || change.From == nil || change.From == change.To && !change.NewMaster",
			Put: "c.o.Observer == nil || change.From == change.To && !change.NewMaster",
		}},
		by: tests{"TestObserverIsToldOfAnotherServer"},
	},
	{
		what: "an observer is told of a failover behind Sentinels with one address twice", guards: "observer",
		edits: edits{{
			In: "State.nodeChanged", Stmt: "e := observe.Server{From: change.FormerAddr, To: change.Addr}",
			Put: "e := observe.Server{From: change.From.Server(), To: change.To.Server()}",
		}},
		by: tests{"TestObserverIsToldOfAnotherServer"},
	},
	{
		what: "an observer is told of a wake-up with the time at which it is told", guards: "observer",
		edits: edits{{In: "seen.tell", Call: "o.Woken", Put: "o.Woken(e.ctx, s, observe.Wake{Source: w.Source, At: time.Now()})"}},
		by:    tests{"TestObserverIsToldEachOutcomeByItsFault"},
	},
	{
		what: "events wait without bound for a slow observer", guards: "observer",
		edits: edits{{In: "observe.Queue.Add", If: "len(q.events) >= most", Put: "false"}},
		by:    tests{"TestStillObserverLosesEventsAndHoldsNobodyUp"},
	},
}
