package rlockotel

import (
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// options are a measurement's, or a span's: made once for each set of attributes, since
// that costs more than all else.
type options struct {
	record []metric.RecordOption
	add    []metric.AddOption
	start  []trace.SpanStartOption
}

// event is what the attributes of a lock's event are made from.
type event struct {
	kind, name string
	key        attribute.Key // empty: it adds nothing
	value      string
	contended  string // empty: it is no acquire's
}

// sent is what those of a command are made from.
type sent struct {
	command, server string
	leases          int
	failed          string // why; empty: it did not
	refused         bool   // by the server, in this word
}

// mostSets bounds what is kept of commands, whose errors and sizes are many.
const mostSets = 2000

// sets keeps options, by event or by sent. Most are those asked for last.
type sets[K event | sent] struct {
	attributes func(K) []attribute.KeyValue
	all        sync.Map
	size       atomic.Int64
	last       atomic.Pointer[kept[K]]
}

// kept are the options of one.
type kept[K event | sent] struct {
	of K
	options
}

// options gives those of one.
func (c *sets[K]) options(of K) *options {
	if k := c.last.Load(); k != nil && k.of == of {
		return &k.options
	}
	if known, ok := c.all.Load(of); ok {
		k := known.(*kept[K])
		c.last.Store(k)
		return &k.options
	}
	attrs := c.attributes(of)
	with := metric.WithAttributeSet(attribute.NewSet(attrs...))
	k := &kept[K]{of, options{[]metric.RecordOption{with}, []metric.AddOption{with}, []trace.SpanStartOption{trace.WithAttributes(attrs...)}}}
	if c.size.Add(1) <= mostSets {
		c.all.Store(of, k)
	}
	return &k.options
}
