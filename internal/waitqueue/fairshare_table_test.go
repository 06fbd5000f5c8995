package waitqueue

import (
	"fmt"
	"testing"
	"time"
)

func TestNameIsTakenAgainAndAgain(t *testing.T) {
	for what, row := range map[string]struct {
		hold, gap time.Duration
		often     int // releases needed; 0: never enough
	}{
		"short holds":                        {ms, ms, oftenCount},
		"long holds":                         {time.Second, ms, oftenLong},
		"holds of minutes":                   {5 * time.Minute, ms, oftenLong},
		"short holds far from each other":    {ms, 2 * time.Second, 0},
		"long holds with a pause in between": {time.Second, 2 * time.Second, 0},
	} {
		t.Run(what, func(t *testing.T) {
			var table Table
			now := start
			for i := 1; i <= 20; i++ {
				since := now + row.gap
				now = since + row.hold
				f := table.Released("orders", since, now)
				if f != table.Shares["orders"] {
					t.Fatal("another is found than was made")
				}
				if f == nil {
					continue
				}
				if i != row.often {
					t.Errorf("after %d releases, want %d", i, row.often)
				}
				if !f.held || f.grantedAt != since {
					t.Error("the hold that ends is not counted as granted")
				}
				return
			}
			if row.often != 0 {
				t.Error("never")
			}
		})
	}
}

// releaseOften releases a name as often as it takes to have a fair share.
func releaseOften(table *Table, key string, now time.Duration) *FairShare {
	for range oftenCount - 1 {
		table.Released(key, now, now)
	}
	return table.Released(key, now, now)
}

func TestTableIsBoundedAndForgetsWhatIsNotUsed(t *testing.T) {
	var table Table
	for i := range maxFairShares {
		if releaseOften(&table, fmt.Sprint("lock", i), start) == nil {
			t.Fatalf("no room for share %d", i)
		}
	}
	if releaseOften(&table, "one more", start+fairShareTTL) != nil {
		t.Error("more than there is room for")
	}
	table.Shares["lock7"].Released(start+fairShareTTL, false)
	if releaseOften(&table, "later", start+fairShareTTL+1) == nil {
		t.Error("no room although the others are old")
	}
	if table.Shares["lock7"] == nil || len(table.Shares) != 2 {
		t.Errorf("%d are left, the one in use among them: %v", len(table.Shares), table.Shares["lock7"] != nil)
	}
}

func TestOneCountAtATime(t *testing.T) {
	h := newPressed()
	if !h.CountDue(h.now) || !h.counting {
		t.Fatal("no count is due")
	}
	if h.now += time.Minute; h.CountDue(h.now) {
		t.Error("another is due while one is under way")
	}
	h.CountFailed()
	h.freeAt, h.contended = h.now, true
	if h.counting || !h.CountDue(h.now) {
		t.Error("none is due after one that failed")
	}
	h.SetClients(2)
	if h.counting {
		t.Error("it is under way after its answer")
	}
}
