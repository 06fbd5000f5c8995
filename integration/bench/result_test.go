package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/quantile"
)

func TestRatioIsOfRoundsBesideEachOther(t *testing.T) {
	r := &Report{}
	// The machine slowed down by ten in the last three rounds; the peer took twice as long throughout.
	for _, v := range []float64{1, 1, 10, 10, 10} {
		r.add("p", ours, "1", "µs", v)
		r.add("p", "x", "1", "µs", 2*v)
	}
	if q, ok := r.ratio("p", "x", ours, "1", "µs"); !ok || q != 2 {
		t.Errorf("%v, %v", q, ok)
	}
	for i, v := range []float64{1, 2, 3} {
		r.add("p", ours, "16", "µs", v)
		r.add("p", "x", "16", "µs", []float64{3, 2, 9}[i])
	}
	if q, _ := r.ratio("p", "x", ours, "16", "µs"); q != 3 {
		t.Errorf("%v, want the median of the rounds' ratios, not the ratio of the medians", q)
	}
	if _, ok := r.ratio("p", "x", ours, "2", "µs"); ok {
		t.Error("a ratio of what was not measured")
	}
}

func TestQuantiles(t *testing.T) {
	v := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0.5: 2, 0.99: 4, 0: 1, 1: 4} {
		if got := quantile.Of(v, q); got != want {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	if v[0] != 4 {
		t.Error("the rounds were reordered")
	}
}

func TestLagsAreWhereOthersAreBetter(t *testing.T) {
	r := &Report{}
	for peer, v := range map[string]float64{ours: 10, "quicker": 8, "as quick": 9.8, "slower": 20, limitName: 1} {
		r.add("pairs", peer, "1", "µs", v)
		r.add("crowd", peer, "16", "acquisitions/s", v)
	}
	var got []string
	for _, l := range lags(r) {
		for _, b := range l.better {
			got = append(got, l.part+" "+b.peer)
		}
	}
	if want := []string{"pairs quicker", "crowd slower"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The page has processor time for each number of callers, and the pairs behind a network if the run has them.
func TestPageOfPairsHasProcessorTimeAndTheNetwork(t *testing.T) {
	r := &Report{}
	for peer, slow := range map[string]float64{ours: 1, rawPeer: 2, bsmP: 3} {
		for i, at := range []string{"1", "32"} {
			for k, metric := range []string{"µs", "client µs", "server µs"} {
				r.add("pairs", peer, at, metric, slow*float64(10*i+k+1))
			}
		}
	}
	for _, far := range []bool{false, true} {
		if far {
			r.add(networkPart, ours, "16", "µs", 77)
		}
		d := &document{r: r}
		d.pairs()
		for _, want := range []string{"| 1 | 2.00 | 4.00 raw redigo | 3.00 | 6.00 raw redigo |\n", "| 32 | 12.0 | 24.0 raw redigo | 13.0 | 26.0 raw redigo |\n"} {
			if !strings.Contains(d.String(), want) {
				t.Errorf("no %q:\n%s", want, d)
			}
		}
		if has := strings.HasSuffix(d.String(), "| callers | 16 |\n| --- | ---: |\n| rlock | 77.0 |\n\n"); has != far {
			t.Errorf("with a network: %v, shown: %v", far, has)
		}
	}
}

func TestLimitGoesRoundAllNamesInWholeChunks(t *testing.T) {
	for _, depth := range limitDepths {
		l := newLimit("", depth)
		for k := range l.encoded {
			if !l.full(k, depth/2) {
				t.Fatalf("depth %d: chunk %d of %d is not full", depth, k, len(l.encoded))
			}
		}
		if n := len(l.encoded) * depth / 2; n%(pairCommands*limitNames) != 0 {
			t.Errorf("depth %d: %d commands are not whole turns", depth, n)
		}
	}
}
