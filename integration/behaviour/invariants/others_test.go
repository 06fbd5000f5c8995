package invariants

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Reasons why a kind has no test for an invariant.
const (
	nothing = "nothing is held: there is no hold, no lease and no renewal"
	members = "each member's own hold keeps it"
	taken   = "whoever awaits takes nothing"
	noOwner = "nobody acts as an owner of it a second time"
	looks   = "a look is a GET, which may be sent again"
)

// others has, for the kinds that are not a Lock, the test in any folder that shows an invariant, or why there is none.
var others = []struct{ number, permits, semaphore, latch, multi string }{
	{"A1", "TestWhatIsFreeIsTakenByOneCommand", "TestWhatIsFreeIsTakenByOneCommand", "TestWhatIsFreeIsTakenByOneCommand", members},
	{"A2", "TestWaiterForPermitsIsWoken", "TestLatchAndSemaphoreAreLookedAt", "TestLatchAndSemaphoreAreLookedAt", "TestMultiLockIsWokenByTheMemberThatItWaitsFor"},
	{"A3", "TestPermitMessagesWakeByTheirNumber", "TestWaitersForAsManyPermitsLookOnce", "TestLatchOpensForAll", "TestMultiLocksInOppositeOrdersWaitForOne"},
	{"A4", "TestPermitsAreGivenBackThatNobodyWants", "TestPermitsOfNobodyAreGivenBackThatNobodyWants", taken, "TestMultiLockEndsWithItsContext"},
	{"A5", "TestPermitsAreExactThoughRepliesAreLost", "TestSemaphoreIsExactThoughRepliesAreLost", looks, members},
	{"A6", "TestWaitForWhatIsCountedSaysHowItEnded", "TestGrantAtTheEndOfAWaitIsKept", "TestLatchThatDoesNotOpen", "TestMultiLockOutlastsARoundWithoutAnAnswer"},
	{"A7", "TestWaitForWhatIsCountedOutlastsTheServer", "TestWaitForWhatIsCountedOutlastsTheServer", "TestWaitForWhatIsCountedOutlastsTheServer", "TestMultiLockOutlastsTheServer"},
	{"H1", "TestPermitsThatAreNotReleasedComeBack", nothing, nothing, "TestMultiHoldEndsWithItsFirstMember"},
	{"H2", "TestPermitsOfOneAcquireAreLostTogether", nothing, nothing, members},
	{"H3", "TestPermitsOfOneAcquireAreLostTogether", nothing, nothing, "TestMultiHoldEndsWithItsFirstMember"},
	{"H4", "TestPermitsOutliveTheContextOfTheirAcquire", nothing, nothing, members},
	{"H5", "TestPermitsWhoseReleaseIsRefusedAreNotRenewed", nothing, nothing, members},
	{"H6", noOwner, nothing, nothing, "TestMultiLockSetsTheLeaseOfAllItsMembersAtLast"},
	{"R1", "TestPermitsAreExactThoughRepliesAreLost", "TestFreePermitsAreChangedOnceForEachReceipt", "TestCountDownIsDoneOnceForEachReceipt", "TestMultiHoldEndsWithItsFirstMember"},
	{"R2", "TestPermitsAreReleasedThoughTheContextIsOver", "TestPermitsOfNobodyAreReleasedHoweverDoEnds", "TestChangeThatIsDueIsSentThoughItsContextIsOver", members},
	{"R3", "TestPermitsByTheirIDs", nothing, nothing, members},
	{"R4", "TestPermitsComeBackOnce", "TestAcquireOfFreePermitsIsUndoneByItsReceipt", taken, members},
	{"R5", "TestChangeThatNoReplicaHasCountsOnce", nothing, nothing, members},
	{"P1", "TestAllThatIsCountedIsListenedForByOneConnection", "TestAllThatIsCountedIsListenedForByOneConnection", "TestAllThatIsCountedIsListenedForByOneConnection", members},
	{"P2", "TestAllThatIsCountedIsListenedForByOneConnection", "TestLatchAndSemaphoreAreLookedAt", "TestLatchAndSemaphoreAreLookedAt", members},
	{"P3", "TestStormOfMessagesIsOneLook", "TestStormOfMessagesIsOneLook", "TestStormOfMessagesIsOneLook", members},
	{"E1", "TestCloseEndsWaitsForWhatIsCounted", "TestCloseEndsWaitsForWhatIsCounted", "TestCloseEndsWaitsForWhatIsCounted", "TestMultiLockEndsWithAMembersClient"},
	{"E2", "TestPermitsAreSetAndAdded", "TestSemaphoreIsExactThoughRepliesAreLost", "TestLatchOpensForAll", members},
	{"I1", "TestNameWhoseKeysAClusterWouldScatterIsRefused", "TestNumbersThatCannotBe", "TestNumbersThatCannotBe", "TestMultiLockRefusesWhatItCannotDo"},
	{"I2", "TestKeysThatAreNoPermitsStay", "TestKeysThatAreNoNumberStay", "TestKeysThatAreNoNumberStay", members},
}

// othersTable says what shows each invariant of those kinds.
func othersTable() string {
	var b strings.Builder
	var why []string
	b.WriteString("| | permits | semaphore | latch | multi |\n|---|---|---|---|---|\n")
	for _, row := range others {
		b.WriteString("| " + row.number + " |")
		for _, cell := range []string{row.permits, row.semaphore, row.latch, row.multi} {
			if !strings.HasPrefix(cell, "Test") {
				if !slices.Contains(why, cell) {
					why = append(why, cell)
				}
				cell = fmt.Sprint("no: ", slices.Index(why, cell)+1)
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for i, reason := range why {
		fmt.Fprintf(&b, "%d. %s%s.\n", i+1, strings.ToUpper(reason[:1]), reason[1:])
	}
	return b.String()
}

func TestEachInvariantOfTheOthersHasATestOrAReason(t *testing.T) {
	exists := folders(t)
	var numbers []string
	for _, row := range others {
		numbers = append(numbers, row.number)
		for _, cell := range []string{row.permits, row.semaphore, row.latch, row.multi} {
			if strings.HasPrefix(cell, "Test") && exists[cell] == nil {
				t.Errorf("%s: there is no %s", row.number, cell)
			}
		}
	}
	all, _ := page(t)
	for _, n := range all {
		if !slices.Contains(numbers, n) {
			t.Errorf("%s is not in the list", n)
		}
	}
}
