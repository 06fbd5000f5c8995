package rlockprom

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// labels are those of one series of a lock's metric. A label that the metric does not have is empty.
type labels struct{ kind, word, contended, name string }

// values returns the labels' values in order, with the name if the metric has that.
func (l labels) values(named bool) []string {
	all := slices.DeleteFunc([]string{l.kind, l.word, l.contended}, func(v string) bool { return v == "" })
	if named {
		all = append(all, l.name)
	}
	return all
}

// sent are the labels of one series of the commands' metric.
type sent struct{ command, script, outcome string }

// series are the series of one metric.
type series[L comparable, T any] struct {
	prometheus.Collector
	with func(L) T

	// What with has returned, by labels, because its search costs more than counting. lately has the last few, such as
	// a lock's and an unlock's in turn, because a look-up in the map takes 90 ns, and one here 25.
	found  sync.Map
	lately [4]atomic.Pointer[found[L, T]]
	next   atomic.Uint32 // the place in lately to overwrite
}

// found is one series.
type found[L comparable, T any] struct {
	labels L
	one    T
}

// of returns the series with these labels. isNew reports whether there was none.
func (s *series[L, T]) of(l L) (one T, isNew bool) {
	for i := range s.lately {
		if f := s.lately[i].Load(); f != nil && f.labels == l {
			return f.one, false
		}
	}
	if known, ok := s.found.Load(l); ok {
		f := known.(*found[L, T])
		s.lately[s.next.Add(1)%uint32(len(s.lately))].Store(f)
		return f.one, false
	}
	one = s.with(l)
	_, known := s.found.LoadOrStore(l, &found[L, T]{l, one})
	return one, !known
}

// A counter counts events of locks, a histogram measures them.
type (
	counter   = series[labels, prometheus.Counter]
	histogram = series[labels, prometheus.Observer]
)

func add(s *counter, l labels, n float64) {
	one, _ := s.of(l)
	one.Add(n)
}
