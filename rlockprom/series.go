package rlockprom

import (
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// labels are those of one series. A label that the metric does not have is empty.
type labels struct{ kind, word, contended, name string }

// series are the series of one metric.
type series[T any] struct {
	prometheus.Collector
	with  func(labels ...string) T
	named bool // they have the label "name"

	// What with has returned, by labels, because its search costs more than
	// counting. Most events belong to the series that was found last.
	found sync.Map
	last  atomic.Pointer[found[T]]
}

// found is one series.
type found[T any] struct {
	labels
	one T
}

// of returns the series with these labels. isNew reports whether there was none.
func (s *series[T]) of(l labels) (one T, isNew bool) {
	if f := s.last.Load(); f != nil && f.labels == l {
		return f.one, false
	}
	if f, ok := s.found.Load(l); ok {
		s.last.Store(f.(*found[T]))
		return f.(*found[T]).one, false
	}
	all := []string{l.kind}
	if l.word != "" {
		all = append(all, l.word)
	}
	if l.contended != "" {
		all = append(all, l.contended)
	}
	if s.named {
		all = append(all, l.name)
	}
	one = s.with(all...)
	_, known := s.found.LoadOrStore(l, &found[T]{l, one})
	return one, !known
}

func add(s *series[prometheus.Counter], l labels, n float64) {
	one, _ := s.of(l)
	one.Add(n)
}
