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
	"testing"

	"github.com/rlock-go/redisson/integration/internal/tablefile"
	"github.com/rlock-go/redisson/integration/testbed"
)

var (
	kinds = flag.Bool("kinds", false, "run every test with every kind of lock that it is about, and not only the short ones")
	write = flag.Bool("write", false, "put the table into docs/dev/tables/invariants.md")
)

// kindOf is the kind that a test is run with, by its name.
func kindOf(t *testing.T) testbed.Kind {
	for _, k := range testbed.Kinds {
		if strings.HasPrefix(t.Name(), "TestKinds/"+k.Name+"/") {
			return k
		}
	}
	return testbed.Plain
}

// not are the kinds that a test says nothing of, and why.
type not map[string]string

// Why a test says nothing of a kind.
const (
	strict   = "its owner is refused, and never holds twice"
	latched  = "its unlock has a latch, whoever the owner is"
	inServer = "its queue is the server's: each waiter tries for itself, and is told for itself"
	together = "readers do not keep each other out, and a message wakes all of them"
	heads    = "each newcomer tries for itself, and none waits behind another's answer"
	asks     = "a force is sent only where its mode is held"
	atOnce   = "an unlock that finds nothing announces too, and is refused like the first"
	nobody   = "an unlock announces only where somebody waits"
	noCount  = "a count is not read: whoever has the field is refused"
	modeless = "a hash without a mode is refused: TestReadWriteLockMeetsWhatIsNone"
)

// What many tests are about.
var (
	reentry  = not{"non-reentrant": strict}
	unlatch  = not{"fair": latched, "read": latched, "write": latched}
	shown    = not{"fair": latched, "read": latched, "write": latched, "non-reentrant": strict}
	aQueue   = not{"fair": inServer, "read": together}
	aHead    = not{"fair": inServer, "read": heads}
	anOthers = not{"non-reentrant": strict, "fair": inServer, "read": together}
)

// byKind are the tests that are run with each kind of lock.
var byKind = []struct {
	test  func(*testing.T)
	short bool
	not   not
}{
	{TestA1NoScriptLoadsOnce, false, nil},
	{TestA1UncontendedPathIsOneEvalshaAndNoSubscription, true, nil},
	{TestA2EndlessPTTLNeitherSpinsNorOverflows, false, nil},
	{TestA2KeyWithoutTTLIsLookedAtAgain, false, nil},
	{TestA2LostDataIsFoundByWhoWaits, false, nil},
	{TestA2MessageBetweenTryAndSubscriptionIsNotMissed, true, nil},
	{TestA2TriesAgainOnlyOnceTheSubscriptionIsConfirmed, false, nil},
	{TestA2WaitEndsWithTheLeaseThatPublishesNothing, false, nil},
	{TestA2ZeroPTTLDoesNotSpin, false, nil},
	{TestA3HeadThatGivesUpDuringItsTryHandsItsWakeUpOn, false, nil},
	{TestA3HeadThatGivesUpHandsItsWakeUpOn, false, nil},
	{TestA3MessageDuringTheHeadsTryOutlivesTheHead, false, nil},
	{TestA3MessageWakesTheHeadOnly, false, aQueue},
	{TestA3OneAttemptInFlightAndConstantCommandsPerHandOff, false, aQueue},
	{TestA3OwnerThatCameToHoldByAnotherCallIsLetThrough, false, anOthers},
	{TestA3RefusedSharedOwnerQueuesBehindOthers, false, nil},
	{TestA3SharedOwnerAndTryLockDoNotQueueFirst, false, not{"non-reentrant": strict, "read": together}},
	{TestA3TryThatIsTakenBackHandsItsWakeUpOn, false, aQueue},
	{TestA4CancellationBeatsASimultaneousGrant, false, nil},
	{TestA4CancellationNearTheGrantLeavesAHoldOrNothing, false, not{"read": together}},
	{TestA4ContextThatEndsAtAnyStepLeavesNothing, false, nil},
	{TestA4ContextThatEndsBetweenGrantAndReturnWins, false, nil},
	{TestA4ContextThatEndsInItsOwnersLaneChangesNoCount, false, reentry},
	{TestA4ContextThatIsOverSendsNothing, false, nil},
	{TestA5AcquireThatTimedOutIsUndone, false, nil},
	{TestA5CountOfWhatIsKnownIsDecided, false, reentry},
	{TestA5ForeignOwnerIsUncertain, false, reentry},
	{TestA5HoldOfAnotherClientIsNotUndone, false, reentry},
	{TestA5IdleCloseIsNobodysError, false, reentry},
	{TestA5LostAcquireReplyIsUndone, true, nil},
	{TestA5LostHoldDoesNotDeceiveTheCount, false, reentry},
	{TestA5ReentryThatWasNeverSentIsNotUncertain, false, nil},
	{TestA5ServersIdleTimeoutIsNobodysError, false, nil},
	{TestA5SharedOwnersCountIsExactAfterALostReply, true, reentry},
	{TestA5TryThatIsNotWrittenIsNotUncertain, false, nil},
	{TestA5UndoOfASharedOwnerEndsBeforeItsLatch, false, reentry},
	{TestA5UndoOnAnotherConnectionFollowsTheKillBarrier, false, nil},
	{TestA5WaiterGetsInAfterALostReply, false, nil},
	{TestA5WithheldAcquireNeverRuns, false, nil},
	{TestA5WithoutClientCommandsALostReplyIsUndone, false, nil},
	{TestA5WithoutKillALateAcquireIsRemoved, false, nil},
	{TestA5WithoutKillASharedOwnerIsUncertain, false, nil},
	{TestA5WithoutKillTheUndoIsRepeatedForOneLease, false, nil},
	{TestA5WithoutKillTheUndoSparesTheHoldThatFollowed, false, nil},
	{TestA6ContextsErrorIsNotErrLocked, false, nil},
	{TestA6ElapsedWaitThatWasToldTakenIsErrLocked, false, nil},
	{TestA6GrantAfterTheEndIsGivenBack, false, nil},
	{TestA6ReentryBehindAnOpenCommandSaysWhatItWaitedFor, false, reentry},
	{TestA6ReentryOfAHolderIsNotErrLocked, false, nil},
	{TestA6UnansweredLastAttemptIsNamed, false, nil},
	{TestA6UnreachableServerIsNeither, false, nil},
	{TestA6WaitBehindAnUnansweredHeadIsNotErrLocked, false, aHead},
	{TestA6WaitWithoutAConnectionIsNotUncertain, false, nil},
	{TestA7EndOfAToldWaitJoinsTheServersLastError, false, nil},
	{TestA7ReentryWaitsForOneTimeoutToBeSent, false, nil},
	{TestA7ShortTroubleBeforeTheFirstAnswerIsWaitedOut, false, nil},
	{TestA7ToldReentriesSurviveAnOutage, false, reentry},
	{TestA7ToldWaitSurvivesALongOutage, false, nil},
	{TestA7ToldWaitSurvivesARestartOfTheServer, false, nil},
	{TestA7TroubleBeforeTheFirstAnswerIsReturned, false, nil},
	{TestA7WhoWaitsBehindALostHeadIsNotUncertain, false, aHead},
	{TestE1CloseInEveryStateLeavesNothing, false, nil},
	{TestE1CloseWaitsForWhatIsGivenBack, false, nil},
	{TestE1CloseWithBorrowedConnectionsIsBounded, false, nil},
	{TestE1ClosedClientRefusesEverything, false, nil},
	{TestE1ShutdownOfAClientThatHoldsNothingIsBounded, false, nil},
	{TestE1ShutdownWaitsForAnUnlockUnderWay, false, nil},
	{TestE2NothingIsLeftAfterWork, false, nil},
	{TestE2PoolGetsItsConnectionsBack, false, nil},
	{TestH1LeaseIsInWholeMilliseconds, false, nil},
	{TestH1TrustCountsFromTheSend, false, nil},
	{TestH2FailedRenewalsAreRetriedWhileTrustLasts, false, nil},
	{TestH2ForgottenScriptsCostNoLease, false, nil},
	{TestH2NotYoursIsALossAtOnce, false, nil},
	{TestH2PoisonedKeySpoilsNoOthersLease, false, nil},
	{TestH2SilenceIsALossOnlyWhenTrustEnds, false, nil},
	{TestH3ErrIsNeverLate, false, nil},
	{TestH3ErrReadsTheClockItself, false, nil},
	{TestH3GrantBeforeAForcedUnlockThatWasLoadedAndLostIsNotTrusted, false, not{"read": asks, "write": asks}},
	{TestH3GrantToAnotherOwnerEndsTheFirst, false, not{"non-reentrant": strict, "read": together}},
	{TestH3GrantWhoseTrustIsOverIsGivenBack, false, nil},
	{TestH3LateNestedGrantIsGivenBackAlone, false, reentry},
	{TestH3LossIsToldOnceAndEverywhere, false, nil},
	{TestH4HoldOutlivesTheContextThatBoundedTheWait, true, nil},
	{TestH5AbandonedGrantIsNotRenewed, false, nil},
	{TestH5LostAndAcquiredAgainIsRenewed, false, nil},
	{TestH5MaxHoldEndsRenewal, false, nil},
	{TestH5NoRenewalAfterUnlock, false, nil},
	{TestH5PendingLeaseIsNotRenewed, false, nil},
	{TestH5RefusedUnlockIsNotRenewed, false, nil},
	{TestH6CommandsOfAnOwnerAreSentOneAtATime, false, reentry},
	{TestH6ExtendThatDidNotRunCostsNoTrust, false, nil},
	{TestH6ExtendThatMayHaveRunIsTrustedForTheShorterLease, false, nil},
	{TestH6KeyOutlivesEveryPromise, false, reentry},
	{TestH6LongerInnerLeaseDoesNotProlongTheOuterHold, false, reentry},
	{TestH6NestedAcquireNeverShortensTheOuterLease, false, reentry},
	{TestH6NothingIsSentWhileAnOutcomeIsOpen, false, nil},
	{TestH6PartialUnlockPassesWhatTheOthersStillNeed, true, reentry},
	{TestH6RefusedCommandLeavesRoomForRenewals, false, reentry},
	{TestH6RefusedCommandWaitsForTheRenewalInItsPause, false, reentry},
	{TestH6RenewalDoesNotShortenALongerLease, false, reentry},
	{TestH6RenewalGoesOnAfterAPartialUnlock, false, reentry},
	{TestH6RenewalWaitsForAnOpenCommand, false, reentry},
	{TestH6WhatIsPassedIsRoundedUp, false, reentry},
	{TestH6WithoutKillALateCommandIsReckonedWithForALease, false, nil},
	{TestH6WithoutKillALateCommandOutlivesItsHold, false, nil},
	{TestH6WithoutKillALatePartialUnlockIsReckonedWith, false, reentry},
	{TestH6WithoutKillALateRenewalIsReckonedWith, false, reentry},
	{TestH6WithoutKillNoPromiseIsLongerThanALateCommand, false, reentry},
	{TestH6WithoutKillRenewalKeepsUpWithWhatIsTrusted, false, reentry},
	{TestI1BadClientOptionsAndURLsDialNobody, false, nil},
	{TestI1BadInputIsNamedBeforeAnythingIsSent, false, nil},
	{TestI1OddNamesWorkOnOneServer, false, not{"read": together}},
	{TestI2HashWithForeignFields, false, not{"non-reentrant": noCount, "read": modeless, "write": modeless}},
	{TestI2KeyOfAnotherTypeStaysUntouched, true, nil},
	{TestI2ReplyOfAnotherShape, false, nil},
	{TestP1OneSubscriptionConnectionForAllWaiters, true, nil},
	{TestP2AllWaitersTryAgainAfterAResubscribe, false, nil},
	{TestP3WakeUpIsAFlagNotAQueue, false, nil},
	{TestR1LatchIsFreshForEachUnlockAndDeleted, true, reentry},
	{TestR1LostUnlockReplyCountsOnce, true, reentry},
	{TestR1RefusedRepetitionOfALostUnlockIsUncertain, false, nil},
	{TestR1RepetitionThatFindsNothingIsNotHeldOnlyIfTheUnlockCouldRun, false, not{"fair": nobody, "read": atOnce, "write": atOnce}},
	{TestR1SeveralLostRepliesCountOnce, false, reentry},
	{TestR1SilenceIsUncertainInBoundedTime, false, nil},
	{TestR1TrustOfTheRestCountsFromTheFirstSend, false, reentry},
	{TestR1UnlockBehindARefusedOneReturnsInTime, false, reentry},
	{TestR1UnlockThatCouldNotBeSentIsSentLater, false, nil},
	{TestR1UnlockThatDidNotRunReturnsInTime, false, nil},
	{TestR1WithheldUnlockDoesNotCountTwice, false, reentry},
	{TestR2UnlockAsBehindAnOpenCommandIsBounded, false, nil},
	{TestR2UnlockAsInAnOutageIsBounded, false, nil},
	{TestR2UnlockWithAContextThatIsOverIsBounded, false, nil},
	{TestR2UnlockWithAContextThatIsOverReleases, false, nil},
	{TestR3NotTheOwnerAnyMoreIsErrNotHeld, true, nil},
	{TestR3SecondUnlockIsErrReleasedAndTouchesNothing, false, reentry},
	{TestR3UnlockAsIsOneDecrementOfAnOwnerWithoutAHoldHere, false, reentry},
	{TestR4HoldsThatAreLeftAreSomebodyElses, false, unlatch},
	{TestR4LostUndoOfALostAcquire, false, unlatch},
	{TestR4LostUnlockOfAnOwnerThatIsUsedOnceIsSentAgain, false, unlatch},
	{TestR4NothingLeftAfterALostUnlockIsReleased, false, unlatch},
	{TestR4OwnNumberThatWasNeverHandedOutIsRefused, false, nil},
	{TestR4ShownMeanwhileIsDecidedByTheCount, false, shown},
	{TestR4UnlockGoesOnForTheLeaseOfAnExtendThatMayHaveRun, false, unlatch},
	{TestR4UnlockGoesOnInTheBackground, false, unlatch},
	{TestR4UnlockThatFoundNothingWithoutAKillBarrier, false, nil},
	{TestR4UnlockWithoutAnAnswerAtTheLimitIsUncertain, false, nil},
	{TestR4WhoIsShownKeepsTheLatch, false, shown},
	{TestR4WithoutAKillBarrier, false, unlatch},
}

func nameOf(test func(*testing.T)) string {
	name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
	return name[strings.LastIndex(name, ".")+1:]
}

// TestKinds runs the tests of the plain lock with the others.
func TestKinds(t *testing.T) {
	beside := func(t *testing.T) {
		if !*kinds { // some of all look at the whole process
			t.Parallel()
		}
	}
	beside(t)
	for _, k := range testbed.Kinds {
		t.Run(k.Name, func(t *testing.T) {
			beside(t)
			for _, row := range byKind {
				if (*kinds || row.short) && row.not[k.Name] == "" {
					t.Run(nameOf(row.test), row.test)
				}
			}
		})
	}
}

const tableFile = "invariants"

// kindsTable says with which kinds each test is run, and why it is not with the others.
func kindsTable() string {
	var b strings.Builder
	b.WriteString("| test |")
	for _, k := range testbed.Kinds {
		b.WriteString(" " + k.Name + " |")
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(testbed.Kinds)+1) + "\n")
	var why []string
	for _, row := range byKind {
		name := nameOf(row.test)
		b.WriteString("| " + name + " |")
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

func TestTableSaysWithWhichKindsATestIsRun(t *testing.T) {
	if *write {
		if err := tablefile.Write(tableFile, kindsTable()+"\n"+othersTable()); err != nil {
			t.Fatal(err)
		}
	}
	_, table, err := tablefile.Read(tableFile)
	if err != nil || strings.TrimSpace(table) != strings.TrimSpace(kindsTable()+"\n"+othersTable()) {
		t.Errorf("%s is not what the tests say (%v); run make kinds FLAGS=-write", tablefile.Path(tableFile), err)
	}
	known := map[string]bool{}
	for _, k := range testbed.Kinds {
		known[k.Name] = true
	}
	type cell struct{ number, kind string }
	run := map[cell]bool{}
	listed := map[string]int{}
	for _, row := range byKind {
		name := nameOf(row.test)
		listed[name]++
		for _, k := range testbed.Kinds {
			run[cell{name[4:6], k.Name}] = run[cell{name[4:6], k.Name}] || row.not[k.Name] == ""
		}
		for kind := range row.not {
			if !known[kind] {
				t.Errorf("%s: no kind is %q", name, kind)
			}
		}
	}
	for c, some := range run {
		if !some {
			t.Errorf("no test of %s is run with %s", c.number, c.kind)
		}
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test[A-Z]\d[A-Z]\w*)`).FindAllSubmatch(text, -1) {
			if n := listed[string(m[1])]; n != 1 {
				t.Errorf("%s is in the list %d times", m[1], n)
			}
		}
	}
}
