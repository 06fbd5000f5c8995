package rlockprom

import (
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// labels are those of one series. A metric that has no such label leaves it empty.
type labels struct{ kind, word, contended, name string }

// series are those of one metric.
type series[T any] struct {
	prometheus.Collector
	with  func(labels ...string) T
	named bool // they have the label "name"

	// What with has returned, by labels: its own search costs more than what is then
	// done with the one it found. Most events are those of the series found last.
	found sync.Map
	last  atomic.Pointer[found[T]]
}

// found is one series.
type found[T any] struct {
	labels
	one T
}

// of gives the series with these labels. isNew says that there was none.
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
