package severalservers_test

// Reasons why a behaviour test is not run on several servers.
const (
	oneServers  = "it counts the commands or connections of one server, or plays its answers"
	accounts    = "it makes accounts, or a password, on one server of its own"
	aPool       = "a pool leads to one server"
	replicas    = "it is about the replicas of one master"
	containers  = "its server is in a container, or in several places"
	noServer    = "it is about what a URL or an option may say, or asks no server"
	killsServer = "it ends one server, or has it load its data"
	secure      = "the servers here have no TLS"
	renewals    = "it counts renewals, and a slot that moves has its leases renewed at once"
)

// counted are the behaviour tests that count commands or connections, of which it
// does not matter which server had them. They are run on a cluster only: what a
// server that leaves has counted is lost.
var counted = []string{
	"TestEveryCallAfterCloseIsErrClosed",
	"TestHandOffWithinAClientCostsOneAttemptAndNoSubscription",
	"TestLocalCrowdCostsOneAttemptPerAcquisition",
	"TestMessageOfAHandOffWakesNobodyHere",
	"TestNothingIsLeftAfterReleaseAndClose",
	"TestWithoutCourtesyNobodyIsCounted",
}

// excluded are the behaviour tests that are not run here.
var excluded = map[string]string{
	"TestCredentialsAreAskedAtEachConnect":                        accounts,
	"TestCredentialsThatAreRefusedAreAskedForAgain":               accounts,
	"TestCredentialsThatCannotBe":                                 accounts,
	"TestCredentialsThatStayWrongAreToldAsSuch":                   accounts,
	"TestPasswordWithoutUser":                                     accounts,
	"TestPasswordsThatAreNotEscaped":                              accounts,
	"TestUserAndPassword":                                         accounts,
	"TestWrongPassword":                                           accounts,
	"TestACommandThatWasTurnedAwayIsNotUndone":                    accounts,
	"TestForbiddenChannel":                                        accounts,
	"TestForbiddenKey":                                            accounts,
	"TestServerThatHidesItsSubscribersIsAskedOnce":                accounts,
	"TestServerThatCannotTellItsSubscribersForAWhileIsAskedAgain": accounts,
	"TestConnectionNamesThatCannotBe":                             noServer,
	"TestMalformedURLs":                                           noServer,
	"TestDatabaseNumber":                                          noServer,
	"TestServersThatAreNotSingleAreRefused":                       noServer,
	"TestBadSettingsAreRefused":                                   noServer,
	"TestConnectionsHaveAName":                                    oneServers,
	"TestHandOffWithinAClientIsOneRoundTrip":                      oneServers,
	"TestReentryIsOneScriptEach":                                  oneServers,
	"TestScriptsAreLoadedOnce":                                    oneServers,
	"TestUncontendedPairIsTwoScripts":                             oneServers,
	"TestOutOfMemory":                                             oneServers,
	"TestUnexpectedRenewalReplies":                                oneServers,
	"TestUnexpectedReplies":                                       oneServers,
	"TestExtensionThatNoReplicaAcknowledgesIsNotReliedOn":         replicas,
	"TestGrantThatNoReplicaAcknowledgesIsGivenBack":               replicas,
	"TestRenewalThatNoReplicaAcknowledgesIsNotReliedOn":           replicas,
	"TestOpenWaitsForAReplicaToBecomeTheMaster":                   replicas,
	"TestReplicaIsToldAsThat":                                     replicas,
	"TestReplicaSyncSendsWAITOnlyWhenAsked":                       replicas,
	"TestReplicaSyncWithoutReplicasSendsNoWAIT":                   replicas,
	"TestReplicaThatIsGoneIsNotWaitedForAgain":                    replicas,
	"TestReplicasOfAnUnlockAreAskedOnceMore":                      replicas,
	"TestServerThatBecomesAReplicaForGood":                        replicas,
	"TestUnlockThatNoReplicaAcknowledgesCountsOnce":               replicas,
	"TestPoolFollowsItsAddressToAnotherMaster":                    aPool,
	"TestPoolOverTLS":                                             aPool,
	"TestPoolOfTwoIsEnough":                                       aPool,
	"TestPoolOfOneIsRefused":                                      aPool,
	"TestPoolThatIsTooSmallAtTheMoment":                           aPool,
	"TestLockOverTLS":                                             secure,
	"TestTLSRefusals":                                             secure,
	"TestLockWaitWakeUnlock":                                      containers,
	"TestNetworkThatIsCutAndHeals":                                containers,
	"TestRestartOfTheServer":                                      containers,
	"TestServerThatStandsStill":                                   containers,
	"TestLoadingServer":                                           killsServer,
	"TestUnreachableServer":                                       killsServer,
	"TestManyClientsInACrowdLeaveTheChannelAndComeBack":           oneServers,
	"TestLoopOfLongHoldsLetsASlowWaiterIn":                        oneServers,
	"TestEmptyNamesAreRefusedByEveryCall":                         oneServers,
	"TestBadTermsAreRefused":                                      oneServers,
	"TestTenThousandHoldsAreRenewedInBatches":                     oneServers,
	"TestThousandNamesShareOneSubscriptionConnection":             oneServers,
	"TestCrowdSharesOneSubscription":                              oneServers,
	"TestWatchdogKeepsTTLAboveHalf":                               renewals,
}
