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
)

// excluded are the behaviour tests that are not run here.
var excluded = map[string]string{
	"TestCredentialsThatAreRefusedAreAskedForAgain":               accounts,
	"TestCredentialsThatStayWrongAreToldAsSuch":                   accounts,
	"TestWrongPassword":                                           accounts,
	"TestACommandThatWasTurnedAwayIsNotUndone":                    accounts,
	"TestForbiddenChannel":                                        accounts,
	"TestServerThatHidesItsSubscribersIsAskedOnce":                accounts,
	"TestServerThatCannotTellItsSubscribersForAWhileIsAskedAgain": accounts,
	"TestDatabaseNumber":                                          noServer,
	"TestConnectionsHaveAName":                                    oneServers,
	"TestHandOffWithinAClientIsOneRoundTrip":                      oneServers,
	"TestExtensionThatNoReplicaAcknowledgesIsNotReliedOn":         replicas,
	"TestGrantThatNoReplicaAcknowledgesIsGivenBack":               replicas,
	"TestRenewalThatNoReplicaAcknowledgesIsNotReliedOn":           replicas,
	"TestOpenWaitsForAReplicaToBecomeTheMaster":                   replicas,
	"TestRefusedWAITFailsNoLock":                                  replicas,
	"TestReplicaSyncSendsWAITOnlyWhenAsked":                       replicas,
	"TestReplicasOfAnUnlockAreAskedOnceMore":                      replicas,
	"TestUnlockThatNoReplicaAcknowledgesCountsOnce":               replicas,
	"TestPoolOverTLS":                                             aPool,
	"TestPoolThatIsTooSmallAtTheMoment":                           aPool,
	"TestNetworkThatIsCutAndHeals":                                containers,
	"TestLoadingServer":                                           killsServer,
	"TestManyClientsInACrowdLeaveTheChannelAndComeBack":           oneServers,
}
