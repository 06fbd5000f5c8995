package invariants

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the checkout, seen from here.
const root = "../../.."

// promised lists promises of docs/guarantees.md, each with the tests that show it, the most direct one first. Where
// several tests have the same name, the last parts of the folder come before it. The tests of numbered promises are
// found by their names.
var promised = []struct {
	promise string
	by      []string
}{
	{"One owner at a time", []string{"TestGoroutinesExcludeEachOther", "TestInterop"}},
	{"An unlock whose reply was lost counts once", []string{"TestR1LostUnlockReplyCountsOnce", "TestR4LostUnlockOfAnOwnerThatIsUsedOnceIsSentAgain", "simulation.TestSeeds"}},
	{"An acquire whose reply was lost is not lost", []string{"TestA5LostAcquireIsSentAgain", "TestLostAcquireIsSentAgain", "simulation.TestSeeds"}},
	{"A waiter is woken by the release, of another client too", []string{"TestMessageWakesWaiterOfAnotherClient", "TestA2MessageBetweenTryAndSubscriptionIsNotMissed"}},
	{"A waiter of a holder that died enters when the lease ends", []string{"TestA2WaitEndsWithTheLeaseThatPublishesNothing", "TestInterop"}},
	{"A loss is told at once", []string{"TestHoldIsToldOfEachLoss", "TestHoldOfEachKindIsToldOfItsLossAtOnce", "TestHowSoonALossIsTold", "TestH2NotYoursIsALossAtOnce"}},
	{"`Do` releases however it ends, and tells of a lost lease", []string{"TestDoReleases", "TestDoTellsOfALostLease"}},
	{"Contexts end a `Margin` before the lease, so that work stops before others begin", []string{"TestContextsEndAMarginBeforeTheLease", "TestDoStopsAMarginBeforeOthersBegin",
		"TestRenewalThatComesBackLateRevivesNoContext", "TestCommandHasStoppedWhenTheNextBegins"}},
	{"Java and Go exclude each other", []string{"TestInterop", "redisson/javakinds.TestBesideJava", "TestOrderBesideJava"}},
	{"Java is woken by Go and Go by Java", []string{"TestInterop", "TestHeadOfOldJavaIsWokenByGoAfterTheHolderDied"}},
	{"Java is woken in a cluster, whichever message its release publishes", []string{"TestGoWakesBothSortsOfJavaInACluster"}},
	{"Go and Java send the same, and leave the same on the server", []string{"TestGoSaysOnTheWireWhatJavaSays", "TestBothLeaveTheSameOnTheServer", "TestBothLeaveTheSameOfNumbers"}},
	{"Readers enter together, a writer alone", []string{"TestReadersAreTogetherAndWritersAlone", "TestDowngradeLetsAllReadersIn", "TestReadersOfAClientTryTogether", "redisson/javakinds.TestBesideJava"}},
	{"A fair lock goes to whoever waits longest", []string{"TestFairLockGoesToWhoeverWaitsLongest", "TestOrderBesideJava"}},
	{"A fenced lock's tokens rise", []string{"TestEachGrantOfAFencedLockHasAHigherToken", "TestTokensGrowWhileConnectionsBreak"}},
	{"A non-reentrant lock is not entered twice", []string{"TestNonReentrantLockIsNotEnteredTwice"}},
	{"Never more permits than there are", []string{"TestNeverMorePermitsThanThereAre", "TestNeverMorePermitsOfNobodyThanThereAre", "TestPermitsAreExactThoughRepliesAreLost"}},
	{"A latch opens for all", []string{"TestLatchOpensForAll", "TestLatchIsExactThoughRepliesAreLost"}},
	{"A multi-lock holds all its members or none", []string{"TestMultiLockHoldsAllMembersOrNone"}},
	{"A failover costs no hold that the next master has", []string{"TestHoldThatTheReplicasHaveOutlivesTheMaster", "TestHoldAndWaiterOutliveTheirMaster"}},
	{"With `WithReplicaSync`, what no replica acknowledged is not relied on", []string{"TestGrantThatNoReplicaAcknowledgesIsGivenBack",
		"TestUnlockThatNoReplicaAcknowledgesCountsOnce", "TestExtensionThatNoReplicaAcknowledgesIsNotReliedOn", "TestRenewalThatNoReplicaAcknowledgesIsNotReliedOn"}},
	{"Holds and waiters follow their slots", []string{"TestHoldIsRenewedAtOnceWhenItsSlotMoves", "TestWaiterListensWhereItsSlotIs", "TestBehaviourHoldsOnServersThatShareTheSlots"}},
	{"A broken server costs an error, never a panic or the memory", []string{"TestEveryCallEndsWithAnErrorWhateverTheServerDoes", "TestMemoryIsBoundedAndNothingStaysBehind"}},
	{"No log line or error shows a password", []string{"TestSecretsStaySecret", "TestMalformedURLNamesThePartAndHidesTheRest"}},

	// Bugs that Redisson has or had, by the numbers of its issues.
	{"Not Redisson's 775, 2515, 3194: one failed renewal ended them all", []string{"TestH2FailedRenewalsAreRetriedWhileTrustLasts", "TestA7ToldWaitSurvivesARestartOfTheServer"}},
	{"Not 2714, 4368: a cancelled acquire was renewed for ever", []string{"TestH5AbandonedGrantIsNotRenewed"}},
	{"Not 3712: a lock that was lost and taken again was not renewed", []string{"TestH5LostAndAcquiredAgainIsRenewed"}},
	{"Not 3580, 4178, 4698: a holder was not told of its loss", []string{"TestH2NotYoursIsALossAtOnce", "TestH2SilenceIsALossOnlyWhenTrustEnds", "TestDoTellsOfALostLease"}},
	{"Not 2575, 4064, 4216: waiters left subscriptions", []string{"TestP1OneSubscriptionConnectionForAllWaiters", "TestManyOperationsLeaveNoChannelAndNoKey"}},
	{"Not 4818, 5392, 5623, 5853: a short lease deleted the key", []string{"TestI1BadInputIsNamedBeforeAnythingIsSent", "TestH1LeaseIsInWholeMilliseconds"}},
	{"Not 4871, 6651, 6844: a lost reply made \"not held\" of an unlock", []string{"TestR1LostUnlockReplyCountsOnce", "TestA5SharedOwnersCountIsExactAfterALostReply"}},
	{"Not 5586, 6775: a refused `WAIT` failed the lock", []string{"TestRefusedWAITFailsNoLock"}},
	{"Not 5761: an unlock between try and subscription was missed", []string{"TestA2MessageBetweenTryAndSubscriptionIsNotMissed", "TestP2AllWaitersTryAgainAfterAResubscribe"}},
	{"Not 6144: a re-entry ended the other's renewal", []string{"TestH6RenewalGoesOnAfterAPartialUnlock", "TestH6NestedAcquireNeverShortensTheOuterLease"}},
	{"Not 6303, 6867, 6962: one renewal starved the others", []string{"TestH2PoisonedKeySpoilsNoOthersLease", "TestSlowShardDelaysNobody"}},
	{"Not 6472, 6506: locks that came and went failed a tick", []string{"TestBatchesStayConsistent", "TestH5HammeredByManyEachLossIsToldOnceAtMost"}},
	{"Not 7272: a renewal outlived the unlock", []string{"TestH5NoRenewalAfterUnlock"}},
}

// folders returns the folders of each test by the test's name.
func folders(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	test := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir // fetched sources are in one
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range test.FindAllSubmatch(text, -1) {
			folder, _ := filepath.Rel(root, filepath.Dir(path))
			found[string(m[1])] = append(found[string(m[1])], filepath.ToSlash(folder))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// page reads docs/dev/invariants.md: the numbers, and the first sentence of each.
func page(t *testing.T) (numbers []string, says map[string]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "dev", "invariants.md"))
	if err != nil {
		t.Fatal(err)
	}
	says = map[string]string{}
	for _, m := range regexp.MustCompile(`(?ms)^- \*\*([A-Z]\d)\.\*\* (.*?)(?:[.:](?:\s|$))`).FindAllSubmatch(text, -1) {
		numbers = append(numbers, string(m[1]))
		says[string(m[1])] = strings.Join(strings.Fields(string(m[2])), " ")
	}
	if len(numbers) < 20 {
		t.Fatalf("only %d are found on the page", len(numbers))
	}
	return numbers, says
}

// promisesTable says which tests show each promise.
func promisesTable(t *testing.T) string {
	t.Helper()
	found := folders(t)
	var b strings.Builder
	row := func(promise string, order []string, tests map[string][]string) {
		var cells []string
		for _, folder := range order {
			cells = append(cells, "`"+folder+"`: "+strings.Join(tests[folder], ", "))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", promise, strings.Join(cells, "; "))
	}
	b.WriteString("| promise | tests |\n|---|---|\n")
	for _, p := range promised {
		var order []string
		tests := map[string][]string{}
		for _, name := range p.by {
			folder := ""
			if i := strings.LastIndex(name, "."); i >= 0 {
				folder, name = name[:i], name[i+1:]
			}
			at := slices.DeleteFunc(slices.Clone(found[name]), func(f string) bool { return !strings.HasSuffix(f, folder) })
			if len(at) != 1 {
				t.Errorf("%s: %s is in %q", p.promise, name, at)
				continue
			}
			if tests[at[0]] == nil {
				order = append(order, at[0])
			}
			tests[at[0]] = append(tests[at[0]], name)
		}
		row(p.promise, order, tests)
	}
	numbers, says := page(t)
	for _, n := range numbers {
		tests := map[string][]string{}
		for name, at := range found {
			if strings.HasPrefix(name, "Test"+n) && len(name) > 6 && name[6] >= 'A' && name[6] <= 'Z' {
				for _, folder := range at {
					tests[folder] = append(tests[folder], name)
				}
			}
		}
		if len(tests) == 0 {
			t.Errorf("no test has %s in its name", n)
		}
		for _, names := range tests {
			slices.Sort(names)
		}
		row("**"+n+"** "+says[n], slices.Sorted(maps.Keys(tests)), tests)
	}
	return b.String()
}

// The page explains each number in a test's name or a comment. promisesTable checks that each has a test.
func TestEachNumberIsOnThePage(t *testing.T) {
	t.Parallel()
	_, explained := page(t)
	for name := range folders(t) {
		if m := regexp.MustCompile(`^Test([A-Z]\d)[A-Z]`).FindStringSubmatch(name); m != nil && explained[m[1]] == "" {
			t.Errorf("%s: %s is not on the page", name, m[1])
		}
	}
	remark := regexp.MustCompile(`//.*\(([A-Z]\d)\)`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir // fetched sources are in one
		}
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range remark.FindAllSubmatch(text, -1) {
			if explained[string(m[1])] == "" {
				t.Errorf("%s: %s is not on the page", path, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
