package invariants

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/tablefile"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

var (
	kinds = flag.Bool("kinds", false, "run every test with every kind of lock that it is about, and not only the short ones")
	write = flag.Bool("write", false, "put the tables into docs/dev/tables/promises.md")
)

// kindOf returns the kind that a test runs with, found by the test's name.
func kindOf(t *testing.T) testbed.Kind {
	for _, k := range testbed.Kinds {
		if strings.HasPrefix(t.Name(), "TestKinds/"+k.Name+"/") {
			return k
		}
	}
	return testbed.Plain
}

// not has the kinds that a test does not apply to, each with the reason.
type not map[string]string

// Reasons why a test does not apply to a kind.
const (
	strict   = "its owner is refused, and never holds twice"
	latched  = "its unlock has a latch, whoever the owner is"
	inServer = "its queue is the server's: each waiter tries for itself, and is told for itself"
	together = "readers do not keep each other out, and a message wakes all of them"
	heads    = "each newcomer tries for itself, and none waits behind another's answer"
	asks     = "a force is sent only where its mode is held"
	noCount  = "a count is not read: whoever has the field is refused"
	modeless = "a hash without a mode is refused: TestReadWriteLockMeetsWhatIsNone"
)

// Exclusions that several tests share.
var (
	reentry  = not{"non-reentrant": strict}
	unlatch  = not{"fair": latched, "read": latched, "write": latched}
	shown    = not{"fair": latched, "read": latched, "write": latched, "non-reentrant": strict}
	aQueue   = not{"fair": inServer, "read": together}
	aHead    = not{"fair": inServer, "read": heads}
	anOthers = not{"non-reentrant": strict, "fair": inServer, "read": together}
)

// byKind lists the tests that run with each kind of lock, except the excluded ones.
var byKind = []struct {
	not   not
	tests []func(*testing.T)
}{
	{nil, []func(*testing.T){
		TestA1NoScriptLoadsOnce, TestA1UncontendedPathIsOneEvalshaAndNoSubscription,
		TestA2EndlessPTTLNeitherSpinsNorOverflows, TestA2KeyWithoutTTLIsLookedAtAgain, TestA2LostDataIsFoundByWhoWaits,
		TestA2MessageBetweenTryAndSubscriptionIsNotMissed, TestA2TriesAgainOnlyOnceTheSubscriptionIsConfirmed,
		TestA2WaitEndsWithTheLeaseThatPublishesNothing, TestA2ZeroPTTLDoesNotSpin,
		TestA3HeadThatGivesUpDuringItsTryHandsItsWakeUpOn, TestA3HeadThatGivesUpHandsItsWakeUpOn,
		TestA3MessageDuringTheHeadsTryOutlivesTheHead, TestA3RefusedSharedOwnerQueuesBehindOthers,
		TestA4CancellationBeatsASimultaneousGrant, TestA4ContextThatEndsAtAnyStepLeavesNothing,
		TestA4ContextThatEndsBetweenGrantAndReturnWins, TestA4ContextThatIsOverSendsNothing,
		TestA5AcquireThatTimedOutIsUndone, TestA5LostAcquireIsSentAgain, TestA5ReentryThatWasNeverSentIsNotUncertain,
		TestA5ServersIdleTimeoutIsNobodysError, TestA5TryThatIsNotWrittenIsNotUncertain,
		TestA5UndoOnAnotherConnectionFollowsTheKillBarrier, TestA5WaiterGetsInAfterALostReply,
		TestA5WithheldAcquireNeverRuns, TestA5WithoutClientCommandsALostReplyIsUndone,
		TestA5WithoutKillALateAcquireIsRemoved, TestA5WithoutKillASharedOwnerIsUncertain,
		TestA5WithoutKillTheUndoIsRepeatedForOneLease, TestA5WithoutKillTheUndoSparesTheHoldThatFollowed,
		TestA6ContextsErrorIsNotErrLocked, TestA6ElapsedWaitThatWasToldTakenIsErrLocked, TestA6GrantAfterTheEndIsGivenBack,
		TestA6ReentryOfAHolderIsNotErrLocked, TestA6UnansweredLastAttemptIsNamed, TestA6UnreachableServerIsNeither,
		TestA6WaitWithoutAConnectionIsNotUncertain, TestA7EndOfAToldWaitJoinsTheServersLastError,
		TestA7ReentryWaitsForOneTimeoutToBeSent, TestA7ShortTroubleBeforeTheFirstAnswerIsWaitedOut,
		TestA7ToldWaitSurvivesALongOutage, TestA7ToldWaitSurvivesARestartOfTheServer,
		TestA7TroubleBeforeTheFirstAnswerIsReturned, TestE1CloseInEveryStateLeavesNothing,
		TestE1CloseWaitsForWhatIsGivenBack, TestE1CloseWithBorrowedConnectionsIsBounded, TestE1ClosedClientRefusesEverything,
		TestE1ShutdownOfAClientThatHoldsNothingIsBounded, TestE1ShutdownWaitsForAnUnlockUnderWay,
		TestE2NothingIsLeftAfterWork, TestE2PoolGetsItsConnectionsBack, TestH1LeaseIsInWholeMilliseconds,
		TestH1TrustCountsFromTheSend, TestH2FailedRenewalsAreRetriedWhileTrustLasts, TestH2ForgottenScriptsCostNoLease,
		TestH2NotYoursIsALossAtOnce, TestH2PoisonedKeySpoilsNoOthersLease, TestH2SilenceIsALossOnlyWhenTrustEnds,
		TestH3ErrIsNeverLate, TestH3ErrReadsTheClockItself, TestH3GrantWhoseTrustIsOverIsGivenBack,
		TestH3LossIsToldOnceAndEverywhere, TestH4HoldOutlivesTheContextThatBoundedTheWait, TestH5AbandonedGrantIsNotRenewed,
		TestH5LostAndAcquiredAgainIsRenewed, TestH5MaxHoldEndsRenewal, TestH5NoRenewalAfterUnlock,
		TestH5PendingLeaseIsNotRenewed, TestH5RefusedUnlockIsNotRenewed, TestH6ExtendThatDidNotRunCostsNoTrust,
		TestH6ExtendThatMayHaveRunIsTrustedForTheShorterLease, TestH6NothingIsSentWhileAnOutcomeIsOpen,
		TestH6WithoutKillALateCommandIsReckonedWithForALease, TestH6WithoutKillALateCommandOutlivesItsHold,
		TestI1BadClientOptionsAndURLsDialNobody, TestI1BadInputIsNamedBeforeAnythingIsSent,
		TestI2KeyOfAnotherTypeStaysUntouched, TestI2ReplyOfAnotherShape, TestP1OneSubscriptionConnectionForAllWaiters,
		TestP2AllWaitersTryAgainAfterAResubscribe, TestP3WakeUpIsAFlagNotAQueue,
		TestR1RefusedRepetitionOfALostUnlockIsUncertain, TestR1RepetitionThatFindsNothingIsNotHeldOnlyIfTheUnlockCouldRun,
		TestR1SilenceIsUncertainInBoundedTime, TestR1UnlockThatCouldNotBeSentIsSentLater,
		TestR1UnlockThatDidNotRunReturnsInTime, TestR2UnlockAsBehindAnOpenCommandIsBounded,
		TestR2UnlockAsInAnOutageIsBounded, TestR2UnlockWithAContextThatIsOverIsBounded,
		TestR2UnlockWithAContextThatIsOverReleases, TestR3NotTheOwnerAnyMoreIsErrNotHeld,
		TestR4OwnNumberThatWasNeverHandedOutIsRefused, TestR4UnlockThatFoundNothingWithoutAKillBarrier,
		TestR4UnlockWithoutAnAnswerAtTheLimitIsUncertain,
	}},
	{aQueue, []func(*testing.T){
		TestA3MessageWakesTheHeadOnly, TestA3OneAttemptInFlightAndConstantCommandsPerHandOff,
		TestA3TryThatIsTakenBackHandsItsWakeUpOn,
	}},
	{anOthers, []func(*testing.T){
		TestA3OwnerThatCameToHoldByAnotherCallIsLetThrough,
	}},
	{not{"non-reentrant": strict, "read": together}, []func(*testing.T){
		TestA3SharedOwnerAndTryLockDoNotQueueFirst, TestH3GrantToAnotherOwnerEndsTheFirst,
	}},
	{not{"read": together}, []func(*testing.T){
		TestA4CancellationNearTheGrantLeavesAHoldOrNothing, TestI1OddNamesWorkOnOneServer,
	}},
	{reentry, []func(*testing.T){
		TestA4ContextThatEndsInItsOwnersLaneChangesNoCount, TestA5CountOfWhatIsKnownIsDecided, TestA5ForeignOwnerIsUncertain,
		TestA5HoldOfAnotherClientIsNotUndone, TestA5IdleCloseIsNobodysError, TestA5LostHoldDoesNotDeceiveTheCount,
		TestA5SharedOwnersCountIsExactAfterALostReply, TestA5UndoOfAReentryLeavesTheOuterHold,
		TestA6ReentryBehindAnOpenCommandSaysWhatItWaitedFor, TestA7ToldReentriesSurviveAnOutage,
		TestH3LateNestedGrantIsGivenBackAlone, TestH6CommandsOfAnOwnerAreSentOneAtATime, TestH6KeyOutlivesEveryPromise,
		TestH6LongerInnerLeaseDoesNotProlongTheOuterHold, TestH6NestedAcquireNeverShortensTheOuterLease,
		TestH6PartialUnlockPassesWhatTheOthersStillNeed, TestH6RefusedCommandLeavesRoomForRenewals,
		TestH6RefusedCommandWaitsForTheRenewalInItsPause, TestH6RenewalDoesNotShortenALongerLease,
		TestH6RenewalGoesOnAfterAPartialUnlock, TestH6RenewalWaitsForAnOpenCommand, TestH6WhatIsPassedIsRoundedUp,
		TestH6WithoutKillALatePartialUnlockIsReckonedWith, TestH6WithoutKillALateRenewalIsReckonedWith,
		TestH6WithoutKillNoPromiseIsLongerThanALateCommand, TestH6WithoutKillRenewalKeepsUpWithWhatIsTrusted,
		TestR1LatchIsFreshForEachUnlockAndDeleted, TestR1LostUnlockReplyCountsOnce, TestR1SeveralLostRepliesCountOnce,
		TestR1TrustOfTheRestCountsFromTheFirstSend, TestR1UnlockBehindARefusedOneReturnsInTime,
		TestR1WithheldUnlockDoesNotCountTwice, TestR3SecondUnlockIsErrReleasedAndTouchesNothing,
		TestR3UnlockAsIsOneDecrementOfAnOwnerWithoutAHoldHere,
	}},
	{aHead, []func(*testing.T){
		TestA6WaitBehindAnUnansweredHeadIsNotErrLocked, TestA7WhoWaitsBehindALostHeadIsNotUncertain,
	}},
	{not{"read": asks, "write": asks}, []func(*testing.T){
		TestH3GrantBeforeAForcedUnlockThatWasLoadedAndLostIsNotTrusted,
	}},
	{not{"non-reentrant": noCount, "read": modeless, "write": modeless}, []func(*testing.T){
		TestI2HashWithForeignFields,
	}},
	{unlatch, []func(*testing.T){
		TestR4LastUnlockTakesAllThatIsCounted, TestR4LostReleaseThatLeavesTheLockCountsOnce, TestR4LostUndoOfALostAcquire,
		TestR4LostUnlockOfAnOwnerThatIsUsedOnceIsSentAgain, TestR4NothingLeftAfterALostUnlockIsReleased,
		TestR4UnlockGoesOnForTheLeaseOfAnExtendThatMayHaveRun, TestR4UnlockGoesOnInTheBackground, TestR4WithoutAKillBarrier,
	}},
	{shown, []func(*testing.T){
		TestR4ForeignMeanwhileIsNotSentAgain, TestR4UnlockOfAForeignOwnerKeepsTheLatch,
	}},
}

// short lists the tests that run with each kind even without -kinds.
var short = []string{
	"TestA1UncontendedPathIsOneEvalshaAndNoSubscription", "TestA2MessageBetweenTryAndSubscriptionIsNotMissed",
	"TestA5LostAcquireIsSentAgain", "TestA5SharedOwnersCountIsExactAfterALostReply",
	"TestH4HoldOutlivesTheContextThatBoundedTheWait", "TestH6PartialUnlockPassesWhatTheOthersStillNeed",
	"TestI2KeyOfAnotherTypeStaysUntouched", "TestP1OneSubscriptionConnectionForAllWaiters",
	"TestR1LatchIsFreshForEachUnlockAndDeleted", "TestR1LostUnlockReplyCountsOnce",
	"TestR1RepetitionThatFindsNothingIsNotHeldOnlyIfTheUnlockCouldRun", "TestR3NotTheOwnerAnyMoreIsErrNotHeld",
}

type row struct {
	name string
	test func(*testing.T)
	not  not
}

// rows returns the tests of byKind, sorted by name.
var rows = sync.OnceValue(func() (all []row) {
	for _, group := range byKind {
		for _, test := range group.tests {
			all = append(all, row{nameOf(test), test, group.not})
		}
	}
	slices.SortFunc(all, func(a, b row) int { return strings.Compare(a.name, b.name) })
	return all
})

func nameOf(test func(*testing.T)) string {
	name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
	return name[strings.LastIndex(name, ".")+1:]
}

// TestKinds runs the tests of the plain lock with the other kinds.
func TestKinds(t *testing.T) {
	beside := func(t *testing.T) {
		if !*kinds { // with -kinds some tests look at the whole process
			t.Parallel()
		}
	}
	beside(t)
	for _, k := range testbed.Kinds {
		t.Run(k.Name, func(t *testing.T) {
			beside(t)
			for _, row := range rows() {
				if (*kinds || slices.Contains(short, row.name)) && row.not[k.Name] == "" {
					t.Run(row.name, row.test)
				}
			}
		})
	}
}

const tableFile = "promises"

// kindsTable says which kinds each test runs with, and why not with the others.
func kindsTable() string {
	var b strings.Builder
	b.WriteString("| test |")
	for _, k := range testbed.Kinds {
		b.WriteString(" " + k.Name + " |")
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(testbed.Kinds)+1) + "\n")
	var why []string
	for _, row := range rows() {
		b.WriteString("| " + row.name + " |")
		for _, k := range testbed.Kinds {
			reason := row.not[k.Name]
			if reason == "" {
				b.WriteString(" yes |")
				continue
			}
			if !slices.Contains(why, reason) {
				why = append(why, reason)
			}
			fmt.Fprintf(&b, " no: %d |", slices.Index(why, reason)+1)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for i, reason := range why {
		fmt.Fprintf(&b, "%d. %s%s.\n", i+1, strings.ToUpper(reason[:1]), reason[1:])
	}
	return b.String()
}

func TestTablesSayWhatTheTestsAre(t *testing.T) {
	tables := promisesTable(t) + "\n" + kindsTable() + "\n" + othersTable()
	if *write {
		testbed.Must(t, tablefile.Write(tableFile, tables))
	}
	if _, there, err := tablefile.Read(tableFile); err != nil || strings.TrimSpace(there) != strings.TrimSpace(tables) {
		t.Errorf("%s is not what the tests say (%v); run make kinds FLAGS=-write", tablefile.Path(tableFile), err)
	}
	known := map[string]bool{}
	for _, k := range testbed.Kinds {
		known[k.Name] = true
	}
	type cell struct{ number, kind string }
	run := map[cell]bool{}
	listed := map[string]int{}
	for _, row := range rows() {
		listed[row.name]++
		for _, k := range testbed.Kinds {
			number := row.name[4:6]
			run[cell{number, k.Name}] = run[cell{number, k.Name}] || row.not[k.Name] == ""
		}
		for kind := range row.not {
			if !known[kind] {
				t.Errorf("%s: no kind is %q", row.name, kind)
			}
		}
	}
	for _, name := range short {
		if listed[name] == 0 {
			t.Errorf("no test is %s", name)
		}
	}
	for c, some := range run {
		if !some {
			t.Errorf("no test of %s is run with %s", c.number, c.kind)
		}
	}
	files, err := filepath.Glob("*_test.go")
	testbed.Must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		testbed.Must(t, err)
		for _, m := range regexp.MustCompile(`(?m)^func (Test[A-Z]\d[A-Z]\w*)`).FindAllSubmatch(text, -1) {
			if n := listed[string(m[1])]; n != 1 {
				t.Errorf("%s is in the list %d times", m[1], n)
			}
		}
	}
}
