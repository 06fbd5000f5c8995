package main

// replicas breaks the count of the replicas that a WAIT is for, and what is done where none acknowledges.
var replicas = []defect{
	{
		what: "a replica that is still being fed is waited for", guards: "count of replicas",
		edits: edits{{In: "onlineReplicas", If: `field(about, ",state=", ",") == "online"`, Put: "true"}},
		by: tests{
			"TestOnlyReplicasThatAreOnlineCount", "TestReplicaIsWaitedForOnceItHasBeenFed",
			"TestLocksAreTakenAgainWhenTheReplicasAreGone",
		},
	},
	{
		what: "a replica that leaves a master is not waited for, whoever may be asked", guards: "count of replicas",
		edits: edits{{In: "replicaCount.counted", Expr: "!r.keeps", Put: "true"}},
		by:    tests{"TestReplicaCountFallsByTheWordOfTheTopology", "TestReplicasThatLeftAreStillWaitedForWhereOneMayBeTheMaster"},
	},
	{
		what: "one word of the topology is enough", guards: "count of replicas",
		edits: edits{{In: "replicaCount.told", Stmt: "r.state = vouched", Put: "r.agree(r.online)"}},
		by:    tests{"TestReplicaCountFallsByTheWordOfTheTopology"},
	},
	{
		what: "the topology is asked twice at one moment", guards: "count of replicas",
		edits: edits{{In: "Pipeline.askOfLoss", Call: "background.Sleep", Put: "background.Sleep(p.ctx, 0)"}},
		by:    tests{"TestReplicaThatIsGoneIsWaitedForUntilTheTopologySaysTwiceThatTheMasterStays"},
	},
	{
		what: "a replica that comes is seen as seldom as where all are there", guards: "count of replicas",
		edits: edits{{In: "conn.counted", Expr: "now + countSoon", Put: "now + countSeldom"}},
		by:    tests{"TestReplicaThatComesLaterIsWaitedFor"},
	},
	{
		what: "a word about an earlier loss counts", guards: "count of replicas",
		edits: edits{{In: "replicaCount.told", Case: "r.state == agreed || loss != r.loss", Put: "r.state == agreed"}},
		by:    tests{"TestReplicaCountFallsByTheWordOfTheTopology"},
	},
	{
		what: "a replica that leaves between the two words does not void the first", guards: "count of replicas",
		edits: edits{{In: "replicaCount.counted", Expr: "len(without(r.online, online)) > 0", Put: "false"}},
		by:    tests{"TestReplicaCountFallsByTheWordOfTheTopology"},
	},
	{
		what: "the only replica that is gone is waited for as long as the master stays", guards: "count of replicas",
		edits: edits{{In: "Pipeline.askOfLoss", Expr: "p.o.Stays(p.ctx, gone)", Put: "gone == nil && p.o.Stays(p.ctx, gone)"}},
		by: tests{
			"TestReplicaThatIsGoneIsWaitedForUntilTheTopologySaysTwiceThatTheMasterStays",
			"TestLocksAreTakenAgainWhenTheReplicasAreGone",
		},
	},
	{
		what: "the two connections count for themselves", guards: "count of replicas, second connection",
		edits: edits{{In: "Replicas.of", If: "first || at.another(s.now.at) && at.place != s.now.at.place", Put: "true"}},
		by:    tests{"TestReplicasThatATwinHasSeenAreWaitedFor"},
	},
	{
		what: "a new client waits for what it sees only", guards: "count of replicas",
		edits: edits{{In: "Replicas.of", If: "first && known != nil", Put: "first && known != nil && false"}},
		by:    tests{"TestReplicasThatTheTopologyKnowsAreWaitedForAtFirst"},
	},
	{
		what: "what Sentinels know of replicas is not asked", guards: "count of replicas",
		edits: edits{{In: "Sentinel.replicas", Stmt: "return t.known", Put: "return nil"}},
		by:    tests{"TestReplicasThatTheSentinelsKnowAreWaitedForByANewClient"},
	},
	{
		what: "a replica that is down is waited for by a new client", guards: "count of replicas",
		edits: edits{{In: "testimony.receive", Expr: `!strings.Contains(m["flags"], "s_down")`, Put: "m != nil"}},
		by:    tests{"TestReplicasThatTheSentinelsKnowAreWaitedForByANewClient"},
	},
	{
		what: "a replica that CLUSTER SLOTS leaves out is not waited for", guards: "count of replicas",
		edits: edits{{In: "slotMap.addReplicas", Expr: `slices.Contains(flags, "noaddr")`, Put: "len(flags) > 0"}},
		by:    tests{"TestReplicasThatOnlyNodesTellsOf", "TestMasterThatComesBackAloneLetsNobodyIn"},
	},
	{
		what: "the next server is counted as the first", guards: "count of replicas",
		edits: edits{{In: "Replicas.of", If: "first && known != nil", Put: "known != nil"}},
		by:    tests{"TestReplicasThatTheTopologyKnowsAreWaitedForAtFirst"},
	},
	{
		what: "a master is kept by the word of a Sentinel that replaces it", guards: "word on a loss",
		edits: edits{{In: "choice.stays", Case: "t.going", Put: "false"}},
		by:    tests{"TestMostSentinelsSayThatTheMasterStays"},
	},
	{
		what: "a Sentinel that calls the master down says that it stays", guards: "word on a loss",
		edits: edits{{In: "choice.stays", Expr: "t.clean", Put: "true"}},
		by:    tests{"TestMostSentinelsSayThatTheMasterStays"},
	},
	{
		what: "those that answer decide, however few they are", guards: "word on a loss",
		edits: edits{{In: "choice.stays", Expr: "2*n > of", Put: "2*n > len(said)"}},
		by:    tests{"TestMostSentinelsSayThatTheMasterStays"},
	},
	{
		what: "a replica that was promoted is not asked", guards: "word on a loss",
		edits: edits{{In: "stays", Stmt: "promoted.Store(true)", Remove: true}},
		by:    tests{"TestSentinelsSayWhetherAMasterThatLostAReplicaStays"},
	},
	{
		what: "half of the masters decide", guards: "word on a loss",
		edits: edits{{In: "clusterStays", Expr: "2*n > len(said)", Put: "2*n >= len(said)"}},
		by:    tests{"TestMostMastersOfAClusterSayThatOneStays"},
	},
	{
		what: "a master that is called dead stays", guards: "word on a loss",
		edits: edits{{In: "clusterStays", Case: `"master,fail?"`, Put: `"master,fail?", "master,fail"`}},
		by:    tests{"TestMostMastersOfAClusterSayThatOneStays"},
	},
	{
		what: "a grant that will be given back keeps others out for a second", guards: "nobody is online",
		edits: edits{{In: "Pipeline.cutBatch", Expr: "r.Tentative && !online", Put: "false && !online"}},
		by:    tests{"TestTentativeWriteHasNoWAITWhileNoReplicaIsOnline"},
	},
	{
		what: "a WAIT that nobody acknowledged counts though nobody is waited for by then", guards: "nobody is online",
		edits: edits{{In: "conn.stopsWaiting", Stmt: "return acked == 0 && n == 0", Put: "return acked > n"}},
		by:    tests{"TestWAITThatNobodyAcknowledgesCountsForNothingOnceNobodyIsWaitedFor"},
	},
	{
		what: "a WAIT stands behind NOSCRIPT", guards: "script and WAIT",
		edits: edits{{In: "conn.loadFirst", If: "r.Wait && r.Script != nil && !c.loaded[r.Script]", Put: "false"}},
		by:    tests{"TestScriptIsLoadedBeforeItsFirstWAIT"},
	},
	{
		what: "a grant that no replica acknowledged is followed at once by the next of this client", guards: "availability",
		edits: edits{{In: "attempt.grantedInVain", Call: "a.leaveRoom", Remove: true}},
		by:    tests{"TestOthersEnterBetweenGrantsThatNoReplicaAcknowledges"},
	},
	{
		what: "a grant that no replica acknowledged is handed on when it is given back", guards: "availability",
		edits: edits{{In: "Queue.mayHandOff", Expr: "q.leavesRoom(q.waiting.head) == 0", Put: "true"}},
		by:    tests{"TestGrantThatIsGivenBackLeavesRoomForOthers"},
	},
}
