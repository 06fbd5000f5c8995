package main

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/tablefile"
)

// The table has each fault, and shows none in which Go is behind without a reason.
func TestTablesRowsAreTheFaults(t *testing.T) {
	header, _, _ := strings.Cut(head, "\n")
	rows := tablefile.Rows(t, tablefile.Path(name), header)
	if len(rows) != len(faults) {
		t.Fatalf("%d rows, %d faults: run make gaps FLAGS=-write", len(rows), len(faults))
	}
	for i, f := range faults {
		if rows[i][0] != f.String() {
			t.Errorf("row %d is %q, not %q: run make gaps FLAGS=-write", i, rows[i][0], f)
			continue
		}
		r := &result{fault: f, gaps: map[string]time.Duration{}, kept: map[string]int{}}
		for j, kind := range kinds {
			for k, s := range sides {
				seconds, over := strings.CutPrefix(rows[i][1+2*j+k], "over ")
				r.gaps[s+kind] = time.Duration(number(t, seconds) * float64(time.Second))
				if over {
					r.gaps[s+kind] += time.Second
				}
			}
		}
		for k, s := range sides {
			r.kept[s] = int(number(t, rows[i][1+2*len(kinds)+k]))
		}
		if want := strings.Split(strings.Trim(strings.TrimSpace(r.line()), "|"), " | "); strings.TrimSpace(want[len(want)-1]) != rows[i][len(rows[i])-1] {
			t.Errorf("%v: the reason is not that of the code", f)
		}
		for _, text := range r.wrong() {
			t.Error(text)
		}
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWhereGoMeetsAFaultWorseIsFound(t *testing.T) {
	const s = time.Second
	for what, row := range map[string]struct {
		f         fault
		gos, java time.Duration
		kept      int
		wrong     int
	}{
		"as soon":                     {fault{}, 3 * s, 2 * s, 5, 0},
		"later":                       {fault{}, 3*s + 1, 2 * s, 5, 1},
		"later, for a reason":         {fault{why: "so", within: 12 * s}, 12 * s, 2 * s, 5, 0},
		"later than the reason lasts": {fault{why: "so", within: 12 * s}, 12*s + 1, 2 * s, 5, 1},
		"a hold lost":                 {fault{why: "so", within: 12 * s}, 2 * s, 2 * s, 4, 1},
	} {
		r := &result{fault: row.f, gaps: map[string]time.Duration{"Gofenced": row.gos, "Javafenced": row.java}, kept: map[string]int{"Go": row.kept, "Java": 5}}
		if texts := r.wrong(); len(texts) != row.wrong {
			t.Errorf("%s: %q", what, texts)
		}
	}
	if len((&result{}).wrong()) != 1 {
		t.Error("a fault that was not played is right")
	}
}

func TestGapIsTheLongestTimeWithoutAnEntry(t *testing.T) {
	at := func(seconds ...int) (all []time.Time) {
		for _, n := range seconds {
			all = append(all, time.Unix(int64(n), 0))
		}
		return all
	}
	for want, entries := range map[time.Duration][]time.Time{10: nil, 6: at(1, 2, 4), 3: at(1, 4, 7, 9), 8: at(8, 9)} {
		if gap := longest(entries, at(0)[0], at(10)[0]); gap != want*time.Second {
			t.Errorf("%v, want %d s", gap, want)
		}
	}
}
