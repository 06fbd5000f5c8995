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

// sets keeps options, by event or by sent.
type sets struct {
	all  sync.Map
	size atomic.Int64
}

// optionsOf gives those of one, which attributes makes.
func optionsOf[K event | sent](c *sets, of K, attributes func(K) []attribute.KeyValue) *options {
	if known, ok := c.all.Load(of); ok {
		return known.(*options)
	}
	attrs := attributes(of)
	with := metric.WithAttributeSet(attribute.NewSet(attrs...))
	o := &options{[]metric.RecordOption{with}, []metric.AddOption{with}, []trace.SpanStartOption{trace.WithAttributes(attrs...)}}
	if c.size.Add(1) <= mostSets {
		c.all.Store(of, o)
	}
	return o
}
