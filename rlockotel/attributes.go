package rlockotel

import (
	"sync"

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

// set is what a set of attributes is made from.
type set struct {
	// Of a lock's event.
	kind, name string
	key        attribute.Key // empty: it adds nothing
	value      string
	acquire    bool // it adds contended
	contended  bool

	// Of a command.
	command, server string
	leases          int
	failed          string // why; empty: it did not
	refused         bool   // by the server, in this word
}

// mostSets bounds what is kept of commands, whose errors and sizes are many.
const mostSets = 2000

// sets keeps options.
type sets struct {
	mu  sync.RWMutex // guards all
	all map[set]*options
}

// of gives the options for a set, which make has the attributes of.
func (c *sets) of(s set, make func(set) []attribute.KeyValue) *options {
	c.mu.RLock()
	known := c.all[s]
	c.mu.RUnlock()
	if known != nil {
		return known
	}
	attrs := make(s)
	with := metric.WithAttributeSet(attribute.NewSet(attrs...))
	o := &options{[]metric.RecordOption{with}, []metric.AddOption{with}, []trace.SpanStartOption{trace.WithAttributes(attrs...)}}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) < mostSets {
		if c.all == nil {
			c.all = map[set]*options{}
		}
		c.all[s] = o
	}
	return o
}
