package checker

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func window(lock int, owner string, from, to int64) Window {
	return Window{From: from, To: to, Lock: lock, Owner: owner, Who: fmt.Sprintf("%s@%d", owner, from)}
}

func TestOverlapIsFoundBySweepAndByPorcupine(t *testing.T) {
	for name, c := range map[string]struct {
		windows []Window
		want    string // the two that overlap
	}{
		"none":                        {nil, ""},
		"one after the other":         {[]Window{window(0, "a", 1, 5), window(0, "b", 6, 9)}, ""},
		"in the same instant":         {[]Window{window(0, "a", 1, 5), window(0, "b", 5, 9), window(0, "c", 9, 10)}, ""},
		"re-entered":                  {[]Window{window(0, "a", 1, 9), window(0, "a", 2, 8), window(0, "a", 3, 9)}, ""},
		"re-entered, outer ends":      {[]Window{window(0, "a", 1, 4), window(0, "a", 2, 8), window(0, "b", 8, 9)}, ""},
		"of different locks":          {[]Window{window(0, "a", 1, 9), window(1, "b", 2, 8)}, ""},
		"empty":                       {[]Window{window(0, "a", 1, 9), window(0, "b", 5, 5), window(0, "c", 6, 2)}, ""},
		"by a nanosecond":             {[]Window{window(0, "a", 1, 6), window(0, "b", 5, 9)}, "a@1 b@5"},
		"one within the other":        {[]Window{window(0, "a", 1, 9), window(0, "b", 3, 4)}, "a@1 b@3"},
		"begun together":              {[]Window{window(0, "a", 1, 9), window(0, "b", 1, 4)}, "a@1 b@1"},
		"behind an end in between":    {[]Window{window(0, "a", 1, 9), window(0, "a", 2, 3), window(0, "b", 4, 5)}, "a@1 b@4"},
		"a re-entry outlives the end": {[]Window{window(0, "a", 1, 4), window(0, "a", 2, 8), window(0, "b", 7, 9)}, "a@2 b@7"},
	} {
		t.Run(name, func(t *testing.T) {
			byLock := map[int][]Window{}
			for _, w := range c.windows {
				byLock[w.Lock] = append(byLock[w.Lock], w)
			}
			var found []string
			for _, windows := range byLock {
				for _, o := range (Model{}).Overlaps(windows) {
					found = append(found, o.A.Who+" "+o.B.Who)
				}
			}
			if got := strings.Join(found, "; "); got != c.want {
				t.Errorf("the sweep found %q, want %q", got, c.want)
			}
			linear, err := Model{}.Linearizable(c.windows)
			if err != nil || linear != (c.want == "") {
				t.Errorf("porcupine: %t, %v", linear, err)
			}
		})
	}
}

func TestSweepAndPorcupineAgree(t *testing.T) {
	for _, m := range []Model{{}, {Permits: 3}} {
		agree(t, m)
	}
}

func agree(t *testing.T, m Model) {
	t.Helper()
	verdicts := map[bool]int{}
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var windows []Window
		for range 1 + rng.IntN(8) {
			from := rng.Int64N(40)
			w := window(0, string(rune('a'+rng.IntN(3))), from, from+rng.Int64N(8))
			w.Permits = min(m.Permits, 1+rng.IntN(2))
			windows = append(windows, w)
		}
		linear, err := m.Linearizable(windows)
		if err != nil || linear != (len(m.Overlaps(windows)) == 0) {
			t.Fatalf("seed %d: porcupine says %t, %v; the sweep says %v, of %v", seed, linear, err, m.Overlaps(windows), windows)
		}
		verdicts[linear]++
	}
	if verdicts[true] < 100 || verdicts[false] < 100 {
		t.Errorf("too one-sided to tell anything: %v", verdicts)
	}
}
